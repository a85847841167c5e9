public import NIOCore

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

/// An argument of an OSC message, with the type tag that it has (OSC 1.0).
public enum OSCArgument: Sendable, Hashable {
    /// `i`
    case int32(Int32)
    /// `f`
    case float(Float)
    /// `s`: text without NUL.
    case string(String)
    /// `S`: the same for systems that tell symbols from strings.
    case symbol(String)
    /// `b`
    case blob(ByteBuffer)
    /// `T` and `F`
    case bool(Bool)
    /// `N`
    case null
    /// `I`, which OSC 1.0 calls infinitum and OSC 1.1 impulse.
    case impulse
    /// `h`
    case int64(Int64)
    /// `t`
    case timeTag(OSCTimeTag)
    /// `d`
    case double(Double)
    /// `c`: the code of a character.
    case character(UInt32)
    /// `r`: red, green, blue and alpha, the first in the highest byte.
    case color(UInt32)
    /// `m`: port, status and two data bytes, the first in the highest byte.
    case midi(UInt32)
    /// `[` and `]` with arguments between them.
    case array([OSCArgument])
}

/// A point of time as in NTP: seconds since 1900 and their fractions, 32 bits each.
public struct OSCTimeTag: Sendable, Hashable {
    public let rawValue: UInt64

    /// At once.
    public static let immediately = OSCTimeTag(rawValue: 1)

    /// Nanoseconds since 1970, of which those before are 0.
    ///
    /// The seconds are taken to be of the years 1968 to 2104 (RFC 4330, 3): with the highest bit clear they begin again
    /// in 2036.
    public var unixNanoseconds: UInt64 {
        let seconds = rawValue >> 32
        let fraction = ((rawValue & 0xFFFF_FFFF) * 1_000_000_000) >> 32
        let era = seconds & 0x8000_0000 == 0 ? seconds + (1 << 32) : seconds
        return era < Self.from1900To1970 ? 0 : (era - Self.from1900To1970) * 1_000_000_000 + fraction
    }

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter unixNanoseconds: nanoseconds since 1970.
    public init(unixNanoseconds: UInt64) {
        let seconds = (unixNanoseconds / 1_000_000_000 + Self.from1900To1970) & 0xFFFF_FFFF
        // Rounded up, so that what is read back is not earlier.
        let fraction = ((unixNanoseconds % 1_000_000_000) << 32 + 999_999_999) / 1_000_000_000
        rawValue = seconds << 32 | min(fraction, 0xFFFF_FFFF)
    }

    private static let from1900To1970: UInt64 = 2_208_988_800
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
