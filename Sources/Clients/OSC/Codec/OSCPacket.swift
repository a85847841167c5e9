/// What an OSC packet is: a message, or a bundle of packets.
public indirect enum OSCPacket: Sendable, Hashable {
    case message(OSCMessage)
    case bundle(OSCTimeTag, [OSCPacket])
}

/// An OSC message.
public struct OSCMessage: Sendable, Hashable {
    /// The address or, from a sender, the pattern of addresses. It begins with a slash.
    public let address: String
    public let arguments: [OSCArgument]

    public init(_ address: String, _ arguments: [OSCArgument]) {
        self.address = address
        self.arguments = arguments
    }
}

/// Why bytes are no OSC packet.
public enum OSCError: Error, Hashable {
    /// The packet, or a part of a bundle, is empty, or its length is not a multiple of four.
    case length
    /// It begins with neither a slash nor `#bundle`.
    case beginning
    /// It ends within what it began.
    case truncated
    /// A text without its end, or not UTF-8.
    case text
    /// The type tags are none, or of an unknown type.
    case typeTags
    /// Something follows the last argument.
    case excess
    /// More arguments, deeper bundles or arrays, or a longer address than are accepted.
    case limit
}

/// The bounds on a packet, besides the size of a datagram.
public enum OSCLimits {
    /// Bundles within bundles.
    public static let bundleDepth = 8
    /// Arrays within arrays.
    public static let arrayDepth = 4
    /// Arguments of a message, those of arrays among them.
    public static let arguments = 1024
    /// Bytes of an address.
    public static let address = 2048
    /// Messages and bundles of a packet.
    public static let packets = 4096
}
