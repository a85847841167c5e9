internal import ElementalWire
internal import Support

/// Where a bridge listens, and what it lets surfaces do.
public struct OSCBridgeOptions: Sendable {
    /// The port for OSC over UDP and, with the same number, for OSCQuery over TCP; 0 lets the system choose.
    public var port = 8000
    /// Networks whose surfaces are heard and answered besides this machine's own programs, such as `192.168.1.0/24`. OSC
    /// knows no encryption and no passwords, and the sender of a datagram can be made up.
    public var allowedNetworks: [String] = []
    /// Where values are sent to besides those that sent lately.
    public var feedback: [Destination] = []
    /// What elements are called in their addresses, by their names. It counts unless another element of the service has
    /// that name.
    public var names: [String: String] = [:]
    /// Whether surfaces set elements.
    public var setsElements = false
    /// Whether the bridge is announced by Zeroconf, as `_osc._udp` and `_oscjson._tcp`: to programs of this machine alone
    /// where ``allowedNetworks`` is empty.
    public var isAnnounced = true
    /// The name under which it is announced: 1 to 63 bytes of UTF-8.
    public var name = "Elemental"

    /// A surface that only listens, or on another port than that from which it sends.
    public struct Destination: Sendable, Hashable {
        /// A name or an address.
        public var host: String
        public var port: Int

        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The defaults.
    public init() {}

    /// - Throws: ``OSCBridgeError`` for an invalid port or network.
    func check() throws(OSCBridgeError) {
        do {
            for port in [port] + feedback.map(\.port) { try InvalidPort.check(port) }
        } catch {
            throw OSCBridgeError("\(error)")
        }
        for text in allowedNetworks where !Self.isNetwork(text) {
            throw OSCBridgeError("'\(text.excerpt)' is not a network: write 192.168.1.0/24 or fd00::/8")
        }
    }

    /// Whether a text can be in ``allowedNetworks``.
    public static func isNetwork(_ text: String) -> Bool { IPNetwork(text) != nil }
}

/// A mistake in a bridge's options, or a port that cannot be had.
public struct OSCBridgeError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let message: String
    public var description: String { message.printable }

    init(_ message: String) { self.message = message }
}
