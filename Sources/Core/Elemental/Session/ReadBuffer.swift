import ElementalWire
import NIOCore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// What was read from a socket, lent to those who keep a long value so that they need not copy it.
enum ReadBuffer {
    /// A value from this many bytes on is long: a copy would cost more than the keeping.
    static let longByteCount = 16 * 1024
    /// How much larger than a value the buffer may be that the value keeps in memory.
    private static let maximumExcess = 4

    /// Hands on a value that lies in the buffer, with what it takes to keep it.
    static func lend(
        _ value: UnsafeRawBufferPointer, of buffer: ByteBuffer, _ body: (ReceivedBytes) -> Void
    ) {
        guard let base = value.baseAddress, value.count * maximumExcess >= buffer.capacity else {
            return body(ReceivedBytes(value))
        }
        let data = Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: value.count,
            deallocator: .custom { _, _ in withExtendedLifetime(buffer) {} })
        ReceivedBytes.withLong(data, isLent: true, body)
    }
}
