import ElementalWire
import NIOCore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// A buffer read from a socket, lent to handlers that keep a long value so that they need not copy it.
enum ReadBuffer {
    /// Values of at least this many bytes are long: copying one would cost more than keeping its buffer.
    static let longByteCount = 16 * 1024
    /// The maximum ratio of a buffer's capacity to the length of the value that keeps it in memory.
    private static let maximumExcess = 4

    /// Passes on a value that lies in the buffer, together with what keeps the buffer alive.
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
