package import ElementalWire
import Support

/// The values of one element that a service keeps, oldest first.
///
/// Values are numbered consecutively. Each run of the service's program is a life and continues the numbers of the
/// previous one. After a crash it skips the numbers that the earlier life may have assigned to lost values.
///
/// Adding a value copies it and rarely allocates. A lookup finds the segment by bisection and then passes fewer than 64
/// values. The log uses no sockets, no files and no clock.
package struct HistoryLog {
    private static let segmentByteCount = 64 * 1024
    /// The maximum number of segments. Only a program that restarts every few values reaches it.
    private static let maximumSegmentCount = 4096

    /// A gap of more values is reported as unbounded.
    static let unboundedCount: UInt64 = 1 << 31

    /// How many lives without values are remembered.
    private static let rememberedLifeCount = 16

    /// The numbers that one run of the service's program assigned.
    private struct Life {
        let id: HistoryLife
        let first: UInt64
        /// Whether the previous life assigned every number below ``first``.
        let isContinuation: Bool
        /// The highest number that it may have assigned.
        var last: UInt64
    }

    package var limits: HistoryLimits { didSet { updateExpiry() } }
    /// Oldest first; the last one is the current.
    private var lives: [Life]
    private var segments: [HistorySegment] = []
    /// The bytes at the beginning of the first segment whose values were dropped.
    private var droppedByteCount = 0
    /// The number of the oldest value that is kept; ``next`` if none is.
    package private(set) var oldest: UInt64 = 1
    /// The number of the next value.
    package private(set) var next: UInt64 = 1
    /// How many values are kept.
    private var count = 0
    /// The bytes of the values that are kept, with their headers.
    package private(set) var byteCount = 0
    /// When the oldest value expires.
    private var expiry = Int64.max
    /// Whether the times of added values are microseconds since 1970.
    private var hasWallTimes = false
    /// How many more bytes the last segment accepts, and until when; none if the next value needs another segment.
    private var room = (byteCount: 0, end: Int64(0))

    /// A history without values.
    package init(_ limits: HistoryLimits) {
        self.limits = limits
        lives = [Life(id: HistoryLife(), first: 1, isContinuation: true, last: 0)]
    }

    /// The current life.
    package var life: HistoryLife { lives[lives.endIndex - 1].id }

    // MARK: Adding

    /// Adds a value.
    ///
    /// - Parameters:
    ///   - value: one of more than ``HistoryLimits/maximumValueByteCount`` bytes gets a number but is not kept.
    ///   - time: when it was measured, in microseconds.
    ///   - now: the time in milliseconds of a monotonic clock.
    package mutating func append(_ value: UnsafeRawBufferPointer?, at time: Int64, now: Int64) {
        let kept = value.flatMap { $0.count <= HistoryLimits.maximumValueByteCount ? $0 : nil }
        let size = HistoryHeader.byteCount + (kept?.count ?? 0)
        if size > room.byteCount || now > room.end { begin(now) }
        segments[segments.endIndex - 1].append(kept, at: time, now: now)
        next += 1
        count += 1
        byteCount += size
        room.byteCount -= size
        trim(now: now)
    }

    private mutating func begin(_ now: Int64) {
        if segments.count >= Self.maximumSegmentCount { dropSegments(1) }
        if segments.isEmpty {
            expiry = limits.seconds.map { now + Int64($0) * 1000 } ?? .max
            oldest = next
        }
        // A short history needs no whole segment.
        let capacity = min(Self.segmentByteCount, limits.byteCount)
        segments.append(
            HistorySegment(life, first: next, began: now, hasWallTimes: hasWallTimes, capacity: capacity))
        room = (Self.segmentByteCount, now + Int64(UInt32.max))
    }

    // MARK: Lives

    /// Begins another life.
    ///
    /// - Parameters:
    ///   - first: the number of its first value, raised to ``next`` if it is lower.
    ///   - isContinuation: whether the previous life assigned every smaller number.
    package mutating func begin(_ life: HistoryLife, at first: UInt64, isContinuation: Bool) {
        skip(to: first)
        lives[lives.endIndex - 1].last = next - 1
        lives.append(Life(id: life, first: next, isContinuation: isContinuation, last: next - 1))
        room.byteCount = 0
        forgetLives()
    }

    /// Skips numbers that the current life assigned to lost values.
    package mutating func skip(to number: UInt64) {
        guard number > next else { return }
        next = number
        room.byteCount = 0
        if segments.isEmpty { oldest = next }
    }

    /// Stores the highest number that the current life may have assigned.
    package mutating func note(lastPossible number: UInt64) { lives[lives.endIndex - 1].last = number }

    /// The highest number that the current life may have assigned.
    package var lastPossible: UInt64 { max(lives[lives.endIndex - 1].last, next - 1) }

    /// Whether the times of the values that follow are microseconds since 1970.
    package mutating func use(wallTimes: Bool) {
        if wallTimes != hasWallTimes { room.byteCount = 0 }
        hasWallTimes = wallTimes
    }

    private mutating func forgetLives() {
        while lives.count > Self.maximumSegmentCount {
            // Otherwise a client with a position in this life would get its values again.
            dropSegments(segments.prefix { $0.life == lives[0].id }.count)
            if lives.count > Self.maximumSegmentCount { lives.removeFirst() }
        }
        // A life is remembered while values of it, or of an earlier one, are kept.
        let first = segments.first?.first ?? next
        let later = lives.dropFirst().prefix { $0.first < first }.count
        lives.removeFirst(max(0, min(later, lives.count - Self.rememberedLifeCount)))
    }

    // MARK: Dropping

    /// Drops the oldest values while a limit is exceeded.
    package mutating func trim(now: Int64) {
        if expiry < now, let seconds = limits.seconds {
            dropSegments(segments.prefix { $0.ended + Int64(seconds) * 1000 < now }.count)
        }
        while byteCount > limits.byteCount || expiry < now || isTooMany, !segments.isEmpty { dropOldest() }
    }

    private var isTooMany: Bool { limits.count.map { count > $0 } ?? false }

    /// Drops all values; their numbers are not assigned again.
    mutating func dropAll() { dropSegments(segments.count) }

    package mutating func dropOldest() {
        guard !segments.isEmpty else { return }
        let size = segments[0].header(at: droppedByteCount).size
        if droppedByteCount + size == segments[0].bytes.count { return dropSegments(1) }
        byteCount -= size
        droppedByteCount += size
        count -= 1
        oldest += 1
        updateExpiry()
    }

    /// Drops the first segments.
    private mutating func dropSegments(_ number: Int) {
        guard number > 0 else { return }
        byteCount += droppedByteCount
        count += Int(oldest - segments[0].first)
        for segment in segments[..<number] {
            byteCount -= segment.bytes.count
            count -= segment.count
        }
        droppedByteCount = 0
        segments.removeFirst(number)
        if segments.isEmpty { room.byteCount = 0 }
        oldest = segments.first?.first ?? next
        forgetLives()
        updateExpiry()
    }

    private mutating func updateExpiry() {
        expiry = .max
        guard let seconds = limits.seconds, let first = segments.first else { return }
        expiry = first.began + Int64(first.header(at: droppedByteCount).kept) + Int64(seconds) * 1000
    }
}

// MARK: - Reading

extension HistoryLog {
    /// The position after all values.
    package var end: HistoryPosition { HistoryPosition(life: life, number: next - 1, check: check(of: next - 1) ?? 0) }

    /// The check of a value; `nil` if it is not kept.
    private func check(of number: UInt64) -> UInt64? {
        guard number >= oldest, let segment = segments[index(of: number)...].first, segment.first <= number else {
            return nil
        }
        var check: UInt64?
        segment.forEach(from: number) { _, _, value in
            check = value.map { HistoryPosition.check($0) }
            return false
        }
        return check
    }

    /// The index of the first segment with this number or a later one; the end index if there is none.
    private func index(of number: UInt64) -> Int {
        var range = segments.startIndex..<segments.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = segments[middle].end > number ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }

    /// The index of a position's life; `nil` if the position is not one of this history.
    private func life(of position: HistoryPosition) -> Int? {
        guard let index = lives.firstIndex(where: { $0.id == position.life }) else { return nil }
        let life = lives[index]
        let last = index == lives.count - 1 ? next - 1 : life.last
        // A client that waits with all values of the previous life has the number before this life's first value.
        guard position.number <= last, position.number + 1 >= life.first else { return nil }
        // The check of a dropped value is unknown. A restored backup has other values under the same numbers.
        if position.check != 0, let check = check(of: position.number), check != position.check { return nil }
        return index
    }

    /// The values after a start: as many as fit into an answer, and at least one if there is one.
    ///
    /// - Parameter anchor: microseconds to add to this machine's clock for the time since 1970; 0 if unknown.
    package func answer(_ token: UInt64, behind start: HistoryStart, anchor: Int64 = 0) -> HistoryAnswer {
        var answer = HistoryAnswer(token: token, life: life, first: next, next: next, values: [])
        let (position, life): (HistoryPosition?, Int?) =
            if case .position(let position) = start { (position, self.life(of: position)) } else { (nil, nil) }
        // A client with an unknown position gets everything.
        let number = life.flatMap { _ in position.map { $0.number + 1 } } ?? number(behind: start, anchor)
        fill(&answer, from: number, anchor)
        if answer.values.isEmpty { answer.check = end.check }
        // Lost values, and values that were too long, are skipped.
        let skipped = answer.first - number
        answer.gap =
            switch start {
            case .position(let position): gap(behind: position, life, before: answer.first)
            case .time: Self.gap(nil, atMost: missing(before: number) + skipped)
            case .newest: Self.gap(nil, atMost: skipped)
            }
        return answer
    }

    /// The number of the first value after a start that is not a position of this history.
    private func number(behind start: HistoryStart, _ anchor: Int64) -> UInt64 {
        switch start {
        case .position: return oldest
        case .newest(let count):
            var rest = Int(count)
            for segment in segments.reversed() {
                let first = max(segment.first, oldest)
                let kept = Int(segment.end - first)
                if kept >= rest { return segment.end - UInt64(rest) }
                rest -= kept
            }
            return oldest
        case .time(let time):
            for segment in segments {
                // The times since 1970 of an earlier boot are compared with the requested time since 1970.
                if segment.hasWallTimes, anchor == 0 { continue }
                let time = segment.hasWallTimes ? time &+ anchor : time
                guard segment.latestTime >= time else { continue }
                var found: UInt64?
                segment.forEach(from: oldest) { number, header, _ in
                    if header.time >= time { found = number }
                    return found == nil
                }
                if let found { return found }
            }
            return next
        }
    }

    private func fill(_ answer: inout HistoryAnswer, from start: UInt64, _ anchor: Int64) {
        let start = max(start, oldest)
        for segment in segments[index(of: start)...] {
            segment.forEach(from: start) { number, header, value in
                // A value that was too long ends the answer, unless the answer is still empty.
                guard let value else { return answer.values.isEmpty }
                if answer.values.isEmpty { (answer.life, answer.first) = (segment.life, number) }
                let size = HistoryAnswer.valueHeaderByteCount + value.count
                if !answer.values.isEmpty, answer.values.count + size > HistoryAnswer.fullByteCount { return false }
                answer.append(value, at: segment.time(header, anchor))
                return true
            }
            if !answer.values.isEmpty { return }
        }
    }

    /// The values that are missing between a position and a number.
    private func gap(behind position: HistoryPosition, _ life: Int?, before number: UInt64) -> HistoryGap? {
        guard let life else { return HistoryGap(count: nil, maximumCount: nil) }
        let missing = number - position.number - 1
        let isKnown = lives[(life + 1)...].allSatisfy { $0.isContinuation || $0.first > number }
        return Self.gap(isKnown ? missing : nil, atMost: missing)
    }

    /// The maximum number of values from the requested time on that may be missing before a number.
    private func missing(before number: UInt64) -> UInt64 {
        guard number > oldest, let segment = segments.last(where: { $0.first < number }) else { return number - 1 }
        return number - min(segment.end, number)
    }

    private static func gap(_ count: UInt64?, atMost most: UInt64) -> HistoryGap? {
        most > 0 ? HistoryGap(count: count, maximumCount: count ?? (most < unboundedCount ? most : nil)) : nil
    }

    /// The values from a number on that are to be written to a file: those of at most one segment.
    func unwritten(from number: UInt64, _ key: ServiceHistories.Key, start: [UInt8]) -> UnwrittenValues? {
        let from = max(number, oldest, lives[lives.endIndex - 1].first)
        guard let segment = segments[index(of: from)...].first else { return nil }
        let first = max(from, segment.first)
        let records = HistoryRecords(
            first: first, end: segment.end, began: segment.began,
            bytes: Array(segment.bytes[segment.offset(of: first)...]))
        return UnwrittenValues(
            head: head(key, start: start), limit: limits.byteCount, oldest: oldest, records: records)
    }

    /// The current life, to be written before its first value.
    func beginning(_ key: ServiceHistories.Key, start: [UInt8]) -> HistoryBeginningLife {
        HistoryBeginningLife(head: head(key, start: start), limit: limits.byteCount, oldest: oldest)
    }

    /// The head of the current life in files.
    private func head(_ key: ServiceHistories.Key, start: [UInt8]) -> HistoryHead {
        let life = lives[lives.endIndex - 1]
        return HistoryHead(key, life.id, isContinuation: life.isContinuation, first: life.first, start: start)
    }
}

extension HistorySegment {
    fileprivate func time(_ header: HistoryHeader, _ anchor: Int64) -> Int64 {
        guard hasWallTimes, header.time != HistoryAnswer.unknownTime else { return header.time }
        return anchor == 0 ? HistoryAnswer.unknownTime : header.time &- anchor
    }
}
