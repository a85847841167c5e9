/// A service with its host, port and addresses.
public struct ResolvedService: Hashable, Sendable {
    /// The service.
    public let instance: ServiceInstance
    /// The host's name with a dot at its end, such as `rover.local.`
    public let host: String
    /// The port, 0...65535; 0 means that the service is listed but takes no connections.
    public let port: Int
    /// The service's TXT record.
    public let txt: TXTRecord
    /// The host's addresses, in the order in which to try them: IPv4, IPv6, link-local IPv6, loopback last.
    public let addresses: [NetworkAddress]

    /// Creates a resolved service, for tests and for services found by other means.
    public init(instance: ServiceInstance, host: String, port: Int, txt: TXTRecord, addresses: [NetworkAddress]) {
        self.instance = instance
        self.host = host
        self.port = port
        self.txt = txt
        self.addresses = addresses
    }
}
