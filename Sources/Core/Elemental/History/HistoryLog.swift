import DequeModule
import ElementalWire

/// The values of one element that a service keeps, oldest first. Numbers are given in order and never twice.
///
/// A segment has values one after the other, so that adding one costs a copy and no allocation. A value is found by its
/// segment and by going through that. No sockets, no clock.
struct HistoryLog {
    private static let segmentByteCount = 64 * 1024

    /// `time Int64 · kept UInt32, in milliseconds since its segment began · length UInt32`, before each value.
    private struct Header {
        static let byteCount = 16
        /// The length of a value that is too long to be kept: no bytes follow.
        static let omitted = UInt32.max

        let time: Int64
        let kept: UInt32
        let length: UInt32

        init(time: Int64, kept: UInt32, length: UInt32) {
            self.time = time.littleEndian
            self.kept = kept.littleEndian
            self.length = length.littleEndian
        }

        init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
            time = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
            kept = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self))
            length = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
        }

        /// The bytes of the value and this.
        var size: Int { Self.byteCount + (length == Self.omitted ? 0 : Int(length)) }
    }

    private struct Segment {
        /// The number of its first value.
        let first: UInt64
        /// In milliseconds.
        let began: Int64
        var bytes: [UInt8] = []
        var count = 0
        var latestTime = Int64.min
        /// When its last value came, in milliseconds.
        var ended: Int64

        init(first: UInt64, began: Int64) { (self.first, self.began, ended) = (first, began, began) }

        /// The number behind its last value.
        var end: UInt64 { first + UInt64(count) }

        /// - Parameter value: `nil` for one that is too long.
        mutating func append(_ value: UnsafeRawBufferPointer?, at time: Int64, now: Int64) {
            let length = value.map { UInt32($0.count) } ?? Header.omitted
            let header = Header(time: time, kept: UInt32(clamping: now - began), length: length)
            withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
            if let value { bytes.append(contentsOf: value) }
            count += 1
            latestTime = max(latestTime, time)
            ended = now
        }

        func header(at offset: Int) -> Header { bytes.withUnsafeBytes { Header($0, at: offset) } }

        /// - Parameter body: gets each value, if it was not too long, with its number and its time; returns whether to go on.
        func forEach(_ body: (UInt64, Int64, UnsafeRawBufferPointer?) -> Bool) {
            bytes.withUnsafeBytes { bytes in
                var (offset, number) = (0, first)
                while offset < bytes.count {
                    let header = Header(bytes, at: offset)
                    let end = offset + header.size
                    let value = UnsafeRawBufferPointer(rebasing: bytes[offset + Header.byteCount..<end])
                    guard body(number, header.time, header.length == Header.omitted ? nil : value) else { return }
                    offset = end
                    number += 1
                }
            }
        }
    }

    let limits: HistoryLimits
    private let life = HistoryLife()
    private var segments: Deque<Segment> = []
    /// The bytes at the beginning of the first segment whose values were dropped.
    private var droppedByteCount = 0
    /// The number of the oldest value that is kept; ``next`` if none is.
    private(set) var oldest: UInt64 = 1
    /// The number of the next value.
    private(set) var next: UInt64 = 1
    /// The bytes of the values that are kept, with their headers.
    private(set) var byteCount = 0
    /// When the oldest value has been kept for long enough.
    private var expiry = Int64.max

    init(_ limits: HistoryLimits) { self.limits = limits }

    /// Adds a value.
    ///
    /// - Parameters:
    ///   - time: when it was measured, in microseconds.
    ///   - now: the time in milliseconds of a monotonic clock.
    mutating func append(_ value: UnsafeRawBufferPointer, at time: Int64, now: Int64) {
        let kept = value.count <= HistoryLimits.maximumValueByteCount ? value : nil
        let size = Header.byteCount + (kept?.count ?? 0)
        if !fits(size, now) { begin(now) }
        segments[segments.endIndex - 1].append(kept, at: time, now: now)
        next += 1
        byteCount += size
        trim(now: now)
    }

    private func fits(_ size: Int, _ now: Int64) -> Bool {
        guard let last = segments.last, now - last.began < Int64(UInt32.max) else { return false }
        return last.bytes.count + size <= Self.segmentByteCount
    }

    private mutating func begin(_ now: Int64) {
        if segments.isEmpty { expiry = limits.seconds.map { now + Int64($0) * 1000 } ?? .max }
        var segment = Segment(first: next, began: now)
        // A short history needs no whole segment.
        segment.bytes.reserveCapacity(min(Self.segmentByteCount, limits.byteCount))
        segments.append(segment)
    }

    /// Drops the oldest values while a limit is exceeded.
    mutating func trim(now: Int64) {
        if expiry < now, let seconds = limits.seconds {
            while let first = segments.first, first.ended + Int64(seconds) * 1000 < now { dropSegment(first) }
        }
        while byteCount > limits.byteCount || expiry < now || isTooMany, !segments.isEmpty { dropOldest() }
    }

    private var isTooMany: Bool { limits.count.map { next - oldest > UInt64($0) } ?? false }

    mutating func dropOldest() {
        guard let first = segments.first else { return }
        let size = first.header(at: droppedByteCount).size
        if droppedByteCount + size == first.bytes.count { return dropSegment(first) }
        byteCount -= size
        droppedByteCount += size
        oldest += 1
        updateExpiry()
    }

    private mutating func dropSegment(_ first: Segment) {
        byteCount -= first.bytes.count - droppedByteCount
        droppedByteCount = 0
        oldest = first.end
        segments.removeFirst()
        updateExpiry()
    }

    private mutating func updateExpiry() {
        expiry = .max
        guard let seconds = limits.seconds, let first = segments.first else { return }
        expiry = first.began + Int64(first.header(at: droppedByteCount).kept) + Int64(seconds) * 1000
    }

    // MARK: Reading

    /// Behind all values.
    var end: HistoryPosition { HistoryPosition(life: life, number: next - 1, check: check(of: next - 1) ?? 0) }

    /// The check of a value; `nil` if it is not kept.
    private func check(of number: UInt64) -> UInt64? {
        guard number >= oldest, let segment = segments.first(where: { $0.end > number }) else { return nil }
        var check: UInt64?
        segment.forEach { each, time, value in
            if each == number { check = value.map { HistoryPosition.check(time, $0) } }
            return each < number
        }
        return check
    }

    /// The number of the first value behind a start; `nil` for a position that is not of this history.
    func number(behind start: HistoryStart) -> UInt64? {
        switch start {
        case .newest(let count): return max(oldest, next > UInt64(count) ? next - UInt64(count) : 1)
        case .time(let time):
            for segment in segments where segment.latestTime >= time {
                var found: UInt64?
                segment.forEach { number, measured, _ in
                    if number >= oldest, measured >= time { found = number }
                    return found == nil
                }
                if let found { return found }
            }
            return next
        case .position(let position):
            guard position.life == life, position.number < next else { return nil }
            // Of a value that was dropped nothing is known. A restored backup has others.
            if let check = check(of: position.number), check != position.check { return nil }
            return max(oldest, position.number + 1)
        }
    }

    /// The values from a number on, as many as an answer has room for, and at least one if there is one.
    func answer(_ token: UInt64, from start: UInt64) -> HistoryAnswer {
        var answer = HistoryAnswer(token: token, life: life, oldest: oldest, first: next, next: next, values: [])
        for segment in segments where segment.end > start {
            segment.forEach { number, time, value in
                guard number >= max(start, oldest) else { return true }
                // One that was too long ends the answer, or is in front of it.
                guard let value else { return answer.values.isEmpty }
                if answer.values.isEmpty { answer.first = number }
                let size = HistoryAnswer.valueHeaderByteCount + value.count
                if !answer.values.isEmpty, answer.values.count + size > HistoryAnswer.fullByteCount { return false }
                answer.append(value, at: time)
                return true
            }
            if !answer.values.isEmpty { return answer }
        }
        answer.check = end.check
        return answer
    }
}
