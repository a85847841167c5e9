/// Where the packets in flight end, oldest first: a ring of offsets in the stream.
struct PacketEnds {
    // 32 offsets in a tuple, because an array would be allocated.
    private var offsets:
        (
            SIMD8<UInt16>, SIMD8<UInt16>, SIMD8<UInt16>, SIMD8<UInt16>
        ) = (.zero, .zero, .zero, .zero)
    private var first = 0
    private(set) var count = 0

    static let capacity = 32

    mutating func append(_ offset: UInt16) {
        let index = (first + count) & (Self.capacity - 1)
        withUnsafeMutableBytes(of: &offsets) { $0.storeBytes(of: offset, toByteOffset: 2 * index, as: UInt16.self) }
        count += 1
    }

    /// Removes the packets that end at `offset` or before it, and returns their number.
    mutating func remove(through offset: UInt16) -> Int {
        var removed = 0
        while count > 0 {
            let index = 2 * first
            let end = withUnsafeBytes(of: offsets) { $0.load(fromByteOffset: index, as: UInt16.self) }
            guard Int16(bitPattern: end &- offset) <= 0 else { break }
            first = (first + 1) & (Self.capacity - 1)
            count -= 1
            removed += 1
        }
        return removed
    }

    mutating func removeAll() { count = 0 }
}
