/// The peers that this end trusts, in two separate lists: a service that this end uses may not use this end's services,
/// and a client may not act as a service.
public struct TrustedPeers: Sendable, Hashable {
    /// The clients that may use this end's services.
    public var clients: [TrustedClient]
    /// The services that this end uses, with pinned keys.
    public var services: [TrustedService]

    /// Creates the lists, by default empty.
    public init(clients: [TrustedClient] = [], services: [TrustedService] = []) {
        self.clients = clients
        self.services = services
    }
}
