import ElementalSecurity
import NIOCore
import NIOPosix

/// Identity and trusted clients of a service that is not open, as they are when it starts.
struct ServiceKeys: Sendable {
    let identity: any Identity
    let tls: TLSIdentity
    let store: any TrustStore
    let snapshot: TrustWatch.Snapshot
    /// The bounds on connections without a session.
    let limits: AcceptLimits
}

extension ServiceSecurity {
    /// Reads identity and trusted clients, on a thread that may block.
    ///
    /// - Parameter now: the clock of the limits per second.
    /// - Returns: `nil` for an open service.
    /// - Throws: ``ElementalError/Code/listeningFailed`` if either cannot be used: the service must not start then.
    func load(now: @escaping @Sendable () -> NIODeadline) async throws(ElementalError) -> ServiceKeys? {
        guard let keys else { return nil }
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                try keys.identity.checkIsCurrent()
                return ServiceKeys(
                    identity: keys.identity, tls: try TLSIdentity(keys.identity), store: keys.store,
                    snapshot: try TrustWatch.Snapshot(keys.store), limits: AcceptLimits(now: now))
            }
        } catch {
            throw ElementalError(
                .listeningFailed, "the service does not start without its identity and trusted clients: \(error)",
                cause: error)
        }
    }
}
