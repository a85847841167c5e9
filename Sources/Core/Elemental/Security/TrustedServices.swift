package import ElementalSecurity
internal import ElementalWire
import NIOPosix

/// The services that a client trusts, read again when that has changed.
package struct TrustedServices: Sendable {
    private let own: Fingerprint
    private let store: any TrustStore
    private var known: (peers: TrustedPeers, revision: TrustRevision)?

    /// - Parameter own: the client's fingerprint.
    package init(own: Fingerprint, store: any TrustStore) {
        self.own = own
        self.store = store
    }

    /// Those of a client; `nil` if it has no identity, and so trusts none.
    package init?(_ security: ClientSecurity) {
        guard let keys = security.keys else { return nil }
        self.init(own: keys.identity.fingerprint, store: keys.store)
    }

    /// Reads them if they have changed, on a thread that may block.
    ///
    /// - Returns: whether they have.
    /// - Throws: what the store throws if it cannot be read.
    @discardableResult
    package mutating func update() async throws -> Bool {
        let (store, revision) = (store, known?.revision)
        let read = try await NIOThreadPool.singleton.runIfActive {
            () -> (peers: TrustedPeers, revision: TrustRevision)? in
            let current = store.revision()
            return current == revision ? nil : (try store.read(), current)
        }
        guard let read else { return false }
        known = read
        return true
    }

    /// How the client stands to a service, as of the last ``update()``.
    package func standing(to service: DiscoveredService) -> ServiceStanding {
        guard let known else { return .none }
        return ServiceStanding(to: service, among: known.peers, own: own)
    }

    /// The service that is paired under a name, as of the last ``update()``.
    package func pin(of service: String, named name: String) -> TrustedService? {
        known?.peers.pinned(service, name)
    }
}
