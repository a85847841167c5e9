internal import ElementalWire
internal import Support

/// Where a bridge listens, and what it lets surfaces do.
public struct OSCBridgeOptions: Sendable {
    /// The port for OSC over UDP and, with the same number, for OSCQuery over TCP; 0 lets the system choose.
    public var port = 8000
    /// Networks whose surfaces the bridge accepts besides this machine's own programs, such as `192.168.1.0/24`. OSC
    /// has neither encryption nor passwords, and the sender of a datagram can be forged.
    public var allowedNetworks: [String] = []
    /// Destinations of values besides the surfaces that sent something recently.
    public var feedback: [Destination] = []
    /// Names for elements in their addresses, by the elements' names. An entry is ignored if another element of the
    /// service has that name.
    public var names: [String: String] = [:]
    /// Whether surfaces can set elements.
    public var setsElements = false
    /// Whether Zeroconf announces the bridge, as `_osc._udp` and `_oscjson._tcp`; only on this machine if
    /// ``allowedNetworks`` is empty.
    public var isAnnounced = true
    /// The announced name: 1 to 63 bytes of UTF-8.
    public var name = "Elemental"

    /// A surface that only receives, or receives on another port than it sends from.
    public struct Destination: Sendable, Hashable {
        /// A host name or an address.
        public var host: String
        /// The UDP port.
        public var port: Int

        /// Creates a destination.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Creates options with the defaults.
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

    /// Returns whether a text is valid in ``allowedNetworks``.
    public static func isNetwork(_ text: String) -> Bool { IPNetwork(text) != nil }
}

/// An invalid option of a bridge, or a port that cannot be opened.
public struct OSCBridgeError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let message: String
    /// The message with control characters escaped.
    public var description: String { message.printable }

    init(_ message: String) { self.message = message }
}
