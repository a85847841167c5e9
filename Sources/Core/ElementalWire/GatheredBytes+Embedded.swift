#if hasFeature(Embedded)
/// A value that comes in pieces. Its memory grows with what has come.
struct GatheredBytes: ~Copyable {
    private var bytes: [UInt8] = []

    /// The least memory taken, so that single bytes from a serial line do not make it grow one by one.
    private static let firstCapacity = 64

    var count: Int { bytes.count }

    /// Adds bytes of a value that will have `length`.
    mutating func append(_ more: UnsafeRawPointer, _ size: Int, of length: Int) {
        guard size > 0 else { return }
        if count + size > bytes.capacity {
            bytes.reserveCapacity(min(length, max(Self.firstCapacity, 2 * (count + size))))
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: more, count: size))
    }

    /// Hands the whole value on and begins anew.
    mutating func handOver<Result>(_ body: (ReceivedBytes) -> Result) -> Result {
        let whole = bytes
        bytes = []
        return whole.withUnsafeBytes { body(ReceivedBytes($0)) }
    }
}
#endif
