/// The peers that this end trusts, as two lists that never count for each other: a service that this end uses may not
/// use this end's services, nor the other way round.
public struct TrustedPeers: Sendable, Hashable {
    /// Clients that may use this end's services.
    public var clients: [TrustedClient]
    /// Services that this end uses, whose keys are pinned.
    public var services: [TrustedService]

    /// Nobody is trusted unless given.
    public init(clients: [TrustedClient] = [], services: [TrustedService] = []) {
        self.clients = clients
        self.services = services
    }
}
