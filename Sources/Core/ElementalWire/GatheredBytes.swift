#if !hasFeature(Embedded)
#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Collects a value that arrives in parts. Memory grows with the bytes that have arrived; the memory of a long value is
/// passed to the receiver when the value is complete.
///
/// Gathering in a `Data` takes longer: twice as long for a number in two parts, 7 times as long for 1,000 bytes in two
/// parts, 12 % longer for 1 MiB in 16 parts.
struct GatheredBytes: ~Copyable {
    private(set) var count = 0
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0

    /// A value of at least this many bytes is passed on with its memory.
    private static let longByteCount = 16 * 1024
    /// The maximum allocation for a value that a header announces, before its bytes have arrived.
    private static let firstCapacity = 64 * 1024

    init() {}

    deinit { free(memory) }

    /// Adds `size` bytes of a value whose whole length is `length`.
    mutating func append(_ bytes: UnsafeRawPointer, _ size: Int, of length: Int) {
        guard size > 0 else { return }
        if count + size > capacity {
            capacity = min(length, max(Self.firstCapacity, 2 * (count + size)))
            guard let larger = realloc(memory, capacity) else { fatalError("out of memory") }
            memory = larger
        }
        memory.unsafelyUnwrapped.advanced(by: count).copyMemory(from: bytes, byteCount: size)
        count += size
    }

    /// Passes the complete value to `body`. It is reset before that, so that a slow body that drops the value does not
    /// keep its memory alive.
    mutating func handOver<Result>(_ body: (ReceivedBytes) -> Result) -> Result {
        let (memory, count) = (self.memory, self.count)
        self.memory = nil
        self.count = 0
        capacity = 0
        guard let memory, count >= Self.longByteCount else {
            defer { free(memory) }
            return body(ReceivedBytes(UnsafeRawBufferPointer(start: memory, count: count)))
        }
        let data = Data(bytesNoCopy: memory, count: count, deallocator: .free)
        return ReceivedBytes.withLong(data, body)
    }
}
#endif
