public import NIOCore

/// An OSC packet: a message, or a bundle of packets.
public indirect enum OSCPacket: Sendable, Hashable {
    /// A message.
    case message(OSCMessage)
    /// Packets that take effect together, at this time.
    case bundle(OSCTimeTag, [OSCPacket])
}

/// An OSC message.
public struct OSCMessage: Sendable, Hashable {
    /// The address, or a pattern of addresses. It begins with a slash.
    public let address: String
    /// The arguments, in order.
    public let arguments: [OSCArgument]

    /// Creates a message.
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
    /// `S`: the same for systems that distinguish symbols from strings.
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

/// A point in time as in NTP: seconds since 1900 and their fractions, 32 bits each.
public struct OSCTimeTag: Sendable, Hashable {
    /// The 64 bits: seconds in the upper half, the fraction of a second in the lower half.
    public let rawValue: UInt64

    /// The value that stands for "immediately".
    public static let immediately = OSCTimeTag(rawValue: 1)

    /// Nanoseconds since 1970; 0 for earlier times.
    ///
    /// The seconds are read as times in the years 1968 to 2104 (RFC 4330, 3): if their highest bit is clear, they count
    /// from 2036.
    public var unixNanoseconds: UInt64 {
        let seconds = rawValue >> 32
        let fraction = ((rawValue & 0xFFFF_FFFF) * 1_000_000_000) >> 32
        let era = seconds & 0x8000_0000 == 0 ? seconds + (1 << 32) : seconds
        return era < Self.from1900To1970 ? 0 : (era - Self.from1900To1970) * 1_000_000_000 + fraction
    }

    /// Creates a time tag from its 64 bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameter unixNanoseconds: nanoseconds since 1970.
    public init(unixNanoseconds: UInt64) {
        let seconds = (unixNanoseconds / 1_000_000_000 + Self.from1900To1970) & 0xFFFF_FFFF
        // Rounded up, so that ``unixNanoseconds`` is not earlier.
        let fraction = ((unixNanoseconds % 1_000_000_000) << 32 + 999_999_999) / 1_000_000_000
        rawValue = seconds << 32 | min(fraction, 0xFFFF_FFFF)
    }

    private static let from1900To1970: UInt64 = 2_208_988_800
}

/// Why bytes are not an OSC packet.
public enum OSCError: Error, Hashable {
    /// The packet, or a part of a bundle, is empty, or its length is not a multiple of four.
    case length
    /// The packet begins with neither a slash nor `#bundle`.
    case beginning
    /// The packet ends in the middle of a value.
    case truncated
    /// A text has no NUL at its end, or is not UTF-8.
    case text
    /// A type tag is unknown, or an array has no end.
    case typeTags
    /// Bytes follow the last argument.
    case excess
    /// The packet exceeds one of the ``OSCLimits``.
    case limit
}

/// The bounds on a packet, besides the size of a datagram.
public enum OSCLimits {
    /// The maximum depth of bundles within bundles.
    public static let bundleDepth = 8
    /// The maximum depth of arrays within arrays.
    public static let arrayDepth = 4
    /// The maximum number of type tags of a message, including those of arrays and their brackets.
    public static let arguments = 1024
    /// The maximum length of an address, in bytes.
    public static let address = 2048
    /// The maximum number of messages and bundles in a packet.
    public static let packets = 4096
}
