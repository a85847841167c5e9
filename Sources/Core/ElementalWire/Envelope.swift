/// The bytes before a value: `id Int8 · length UInt32`, and in a datagram `udpIdentifier UInt8` after them.
///
/// Source: frames recorded from the ElementalController implementation of 2019-2021 (Tests' `vectors.json`).
public enum Envelope {
    /// Bytes before a value in a TCP stream.
    public static let streamByteCount = 5
    /// Bytes before a value in a UDP datagram.
    public static let datagramByteCount = 6
    /// The largest payload of a UDP datagram over IPv4, in bytes (65,535 less the IP and UDP headers).
    public static let maximumDatagramByteCount = 65_507
    /// The largest value that fits a datagram, in bytes.
    public static let maximumDatagramValueByteCount = maximumDatagramByteCount - datagramByteCount

    /// The longest value that an envelope can announce, in bytes: the length has 32 bits.
    @inlinable public static var maximumValueByteCount: Int { Int(clamping: UInt32.max) }

    /// The longest value that is sent in one envelope to a peer that takes pieces, in bytes.
    package static let wholeByteCount = 128 * 1024

    /// Writes the 5 bytes that precede a value in a stream.
    ///
    /// - Precondition: the length is not above ``maximumValueByteCount``.
    @inlinable
    public static func writeStreamHeader(id: Int8, length: Int, to destination: UnsafeMutableRawPointer) {
        destination.storeBytes(of: id, as: Int8.self)
        destination.storeBytes(of: UInt32(length).littleEndian, toByteOffset: 1, as: UInt32.self)
    }

    /// Writes the 6 bytes that precede a value in a datagram.
    ///
    /// - Precondition: the length is not above ``maximumValueByteCount``.
    @inlinable
    public static func writeDatagramHeader(
        id: Int8, length: Int, udpIdentifier: UInt8, to destination: UnsafeMutableRawPointer
    ) {
        writeStreamHeader(id: id, length: length, to: destination)
        destination.storeBytes(of: udpIdentifier, toByteOffset: 5, as: UInt8.self)
    }

    /// Reads the length from the header at `bytes`, which has at least 5 bytes.
    @inlinable
    static func length(at bytes: UnsafeRawPointer) -> Int {
        Int(clamping: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    }
}
