internal import ElementalWire

extension HistoryLog {
    /// Restores the values in files and begins a new life after them.
    ///
    /// - Parameters:
    ///   - blocks: the blocks of all files, in order.
    ///   - isBounded: whether the last life assigned only numbers that are reserved in the files.
    init(restoring blocks: [HistoryBlock], isBounded: Bool, by clock: HistoryClock) {
        self.init(HistoryLimits(byteCount: ServiceHistories.maximumByteCount))
        let times = RestoredTimes(blocks, clock)
        var current: HistoryHead?
        for block in blocks {
            switch block {
            case .head(let head):
                if head.life != current?.life {
                    begin(head.life, at: head.first, isContinuation: head.isContinuation)
                }
                current = head
                use(wallTimes: !times.isOfThisStart(head))
            case .mark(let number, _): note(lastPossible: number)
            case .values(let records):
                // Skips the values of a file that was restored from a backup beside newer ones.
                guard let current, records.first >= next else { continue }
                skip(to: records.first)
                records.forEach { header, value in
                    append(
                        value, at: times.measured(header.time, current),
                        now: times.kept(records.began + Int64(header.kept), current))
                }
            }
        }
        // Twice, because a client may have received many of the lost values: the rest must still count as unbounded.
        if !isBounded { note(lastPossible: lastPossible + 2 * Self.unboundedCount) }
        begin(HistoryLife(), at: lastPossible + 1, isContinuation: lastPossible == next - 1)
        use(wallTimes: false)
    }
}

/// Converts the times in files to this machine's clock.
private struct RestoredTimes {
    private let start: [UInt8]
    private let now: Int64
    private let anchor: Int64
    /// The last written anchor of each boot: microseconds to add to its clock for the time since 1970.
    private var anchors: [[UInt8]: Int64] = [:]

    init(_ blocks: [HistoryBlock], _ clock: HistoryClock) {
        (start, now, anchor) = (clock.start, clock.time() / 1000, clock.anchor())
        var current: [UInt8] = []
        for block in blocks {
            switch block {
            case .head(let head): current = head.start
            case .mark(_, let anchor): if anchor != 0 { anchors[current] = anchor }
            case .values: break
            }
        }
    }

    func isOfThisStart(_ head: HistoryHead) -> Bool { head.start == start }

    /// The time of measurement; for an earlier boot in microseconds since 1970.
    func measured(_ time: Int64, _ head: HistoryHead) -> Int64 {
        if isOfThisStart(head) || time == HistoryAnswer.unknownTime { return time }
        return anchors[head.start].map { time &+ $0 } ?? HistoryAnswer.unknownTime
    }

    /// When the value was kept, in milliseconds of this boot's clock; now if unknown.
    func kept(_ time: Int64, _ head: HistoryHead) -> Int64 {
        if isOfThisStart(head) { return min(time, now) }
        guard anchor != 0, let then = anchors[head.start] else { return now }
        return min(time &+ (then &- anchor) / 1000, now)
    }
}
