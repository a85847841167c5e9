import ElementalSecurity
import ElementalWire
import NIOCore
import NIOPosix
import Support

/// The service that a client expects at the other end of an encrypted connection.
struct ExpectedService: Sendable {
    let identity: TLSIdentity
    let match: PinMatch
    /// Whether the connection may also be plain: only another service of the same identity is paired, and nothing
    /// requires encryption.
    let mayBePlain: Bool
    fileprivate let target: ConnectionTarget
    fileprivate let peers: TrustedPeers
    fileprivate let store: any TrustStore
    /// The identity that an earlier connection of the same device has proven.
    fileprivate let proven: Fingerprint?

    func verdict(on key: Fingerprint, service: String? = nil) -> PinVerdict {
        if let proven, key != proven { return .identityChanged }
        var target = target
        if target.service == nil { target.service = service }
        return peers.verdict(on: key, of: target, own: identity.fingerprint)
    }

    func accepts(_ key: Fingerprint, service: String? = nil) -> Bool {
        switch verdict(on: key, service: service) {
        case .trusted, .sibling, .own: true
        case .identityChanged, .notPaired: false
        }
    }
}

extension ExpectedService {
    /// Why the connection must be encrypted.
    var reason: String {
        guard case .knownHost(let entries) = match else { return "it is paired" }
        let names = entries.prefix(3).map { "'\($0.service)/\($0.instance)'" }.joined(separator: ", ")
        return "\(names) was reached at this host and is paired"
    }

    /// Stores a new address of the service, in the background. This may fail: only the key matters.
    func noteReached(_ key: Fingerprint, at address: SocketAddress?) {
        guard case .trusted(let entry) = verdict(on: key), let address, let port = address.port else { return }
        let host = TrustedService.Host(address.hostText, port: UInt16(clamping: port))
        let instance = target.instance ?? entry.instance
        var peers = peers
        guard peers.noteReached(key, service: entry.service, instance: instance, at: host) else { return }
        NIOThreadPool.singleton.submit { [store] _ in
            _ = try? store.update {
                _ = $0.noteReached(key, service: entry.service, instance: instance, at: host)
            }
        }
    }
}

extension ClientSecurity {
    /// Decides how to connect. Blocks: reads the store.
    ///
    /// - Parameters:
    ///   - announced: the policy in the service's TXT record.
    ///   - proven: the identity that an earlier connection of the same device has proven.
    /// - Returns: `nil` for a plain connection.
    func decide(
        _ target: ConnectionTarget, announced: SecurityPolicy?, proven: Fingerprint?, name: String
    ) throws(ElementalError) -> ExpectedService? {
        guard mode != .open else { return nil }
        let mustBeEncrypted = mode == .required || announced == .paired || proven != nil
        do {
            if let keys = try source?.read() {
                try keys.identity.checkIsCurrent()
                let peers = try keys.store.read()
                let match = peers.match(target, own: keys.identity.fingerprint)
                let isSibling = if case .sibling = match { true } else { false }
                // A host and port do not identify the service; only its key does.
                if isSibling || match.requiresTLS || (mode == .required && target.instance == nil) {
                    return ExpectedService(
                        identity: try TLSIdentity(keys.identity), match: match,
                        mayBePlain: isSibling && !mustBeEncrypted, target: target, peers: peers, store: keys.store,
                        proven: proven)
                }
            }
        } catch let error as ElementalError {
            throw error
        } catch {
            throw ElementalError(
                .connectionFailed, "cannot connect to '\(name)' without this client's identity and trusted services",
                cause: error)
        }
        if mustBeEncrypted { throw .notPaired(name) }
        return nil
    }
}

extension ElementalError {
    static func notPaired(_ name: String) -> ElementalError {
        ElementalError(.notPaired, "'\(name)' is not paired with this client; pair them first (elemental pair)")
    }

    static func identityChanged(_ name: String) -> ElementalError {
        ElementalError(
            .identityChanged,
            "'\(name)' is not the device that was paired: it was set up anew, or another device uses its name; "
                + "only if you know that it was set up anew, forget it (elemental trust revoke) and pair again")
    }
}
