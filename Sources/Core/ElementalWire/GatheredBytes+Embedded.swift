#if hasFeature(Embedded)
/// Collects a value that arrives in parts. Memory grows with the bytes that have arrived.
struct GatheredBytes: ~Copyable {
    private var bytes: [UInt8] = []

    /// The minimum allocation, so that single bytes from a serial line do not grow the memory byte by byte.
    private static let firstCapacity = 64

    var count: Int { bytes.count }

    /// Adds `size` bytes of a value whose whole length is `length`.
    mutating func append(_ more: UnsafeRawPointer, _ size: Int, of length: Int) {
        guard size > 0 else { return }
        if count + size > bytes.capacity {
            bytes.reserveCapacity(min(length, max(Self.firstCapacity, 2 * (count + size))))
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: more, count: size))
    }

    /// Passes the complete value to `body` and is empty afterwards.
    mutating func handOver<Result>(_ body: (ReceivedBytes) -> Result) -> Result {
        let whole = bytes
        bytes = []
        return whole.withUnsafeBytes { body(ReceivedBytes($0)) }
    }
}
#endif
