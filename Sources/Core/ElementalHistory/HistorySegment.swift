internal import ElementalWire

/// The header of a history's value, in memory and in files: `time Int64 · kept UInt32 · length UInt32`, where `kept` is
/// the time at which the value was stored, in milliseconds since the segment began.
struct HistoryHeader {
    static let byteCount = 16
    /// The length field of a value that was too long to be kept; it has no bytes.
    private static let omitted = UInt32.max

    /// When it was measured, in microseconds.
    let time: Int64
    let kept: UInt32
    private let length: UInt32

    /// - Parameter length: `nil` for a value that is too long to be kept.
    init(time: Int64, kept: UInt32, length: Int?) {
        (self.time, self.kept) = (time.littleEndian, kept.littleEndian)
        self.length = length.map { UInt32($0) }?.littleEndian ?? Self.omitted
    }

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        time = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
        kept = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self))
        length = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
    }

    var isOmitted: Bool { length == Self.omitted }

    /// The bytes of the value and of this header.
    var size: Int { Self.byteCount + (isOmitted ? 0 : Int(length)) }
}

/// Values with consecutive numbers, one after the other.
struct HistorySegment {
    let life: HistoryLife
    /// The number of its first value.
    let first: UInt64
    /// When it began, in milliseconds.
    let began: Int64
    /// Whether its times are microseconds since 1970 instead of this boot's clock, because the values are from an
    /// earlier boot.
    let hasWallTimes: Bool
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    /// The offset of every 64th value, so that a search passes few others.
    private var offsets: [UInt32] = []
    private static let stride = 64
    private(set) var latestTime = Int64.min
    /// When its last value was added, in milliseconds.
    private(set) var ended: Int64

    init(_ life: HistoryLife, first: UInt64, began: Int64, hasWallTimes: Bool, capacity: Int) {
        (self.life, self.first, self.began, self.hasWallTimes) = (life, first, began, hasWallTimes)
        ended = began
        bytes.reserveCapacity(capacity)
    }

    /// The number after its last value.
    var end: UInt64 { first + UInt64(count) }

    /// - Parameter value: `nil` for a value that is too long.
    mutating func append(_ value: UnsafeRawBufferPointer?, at time: Int64, now: Int64) {
        if count % Self.stride == 0 { offsets.append(UInt32(bytes.count)) }
        let header = HistoryHeader(time: time, kept: UInt32(clamping: now - began), length: value?.count)
        withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
        if let value { bytes.append(contentsOf: value) }
        count += 1
        latestTime = max(latestTime, time)
        ended = now
    }

    func header(at offset: Int) -> HistoryHeader { bytes.withUnsafeBytes { HistoryHeader($0, at: offset) } }

    /// The offset of a value of this segment.
    func offset(of number: UInt64) -> Int {
        let (mark, rest) = Int(number - first).quotientAndRemainder(dividingBy: Self.stride)
        return (0..<rest).reduce(Int(offsets[mark])) { offset, _ in offset + header(at: offset).size }
    }

    /// - Parameters:
    ///   - start: the number of the first value, below ``end``.
    ///   - body: receives each value's number, header and bytes (`nil` if it was too long); returns whether to
    ///     continue.
    func forEach(from start: UInt64, _ body: (UInt64, HistoryHeader, UnsafeRawBufferPointer?) -> Bool) {
        bytes.withUnsafeBytes { bytes in
            var number = max(start, first)
            var offset = self.offset(of: number)
            while offset < bytes.count {
                let header = HistoryHeader(bytes, at: offset)
                let end = offset + header.size
                let value = UnsafeRawBufferPointer(rebasing: bytes[offset + HistoryHeader.byteCount..<end])
                guard body(number, header, header.isOmitted ? nil : value) else { return }
                offset = end
                number += 1
            }
        }
    }
}
