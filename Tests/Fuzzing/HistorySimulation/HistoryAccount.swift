@testable import Elemental

/// Every value that the service sent, when that was, and what may have become of it. Times are microseconds of the simulation.
final class HistoryAccount: @unchecked Sendable {
    struct Sample {
        let time: Int64
        /// The start of the service's machine.
        let boot: Int
        /// Whether it may have been lost with the program or the power: it was not forced onto the disk for long enough.
        var mayBeLost = false
    }

    /// A start of the service's machine.
    struct Boot {
        let began: Int64
        /// All that the time of day was ahead of the machine's clock, while that was known, and since when.
        var anchors: [(since: Int64, anchor: Int64)] = []
        /// Whether a program certainly wrote it down.
        var isAnchorWritten = false
    }

    let limits: [HistoryLimits?]
    var samples: [[Sample]]
    var boots: [Boot] = []
    /// When programs ended while the disk was full: what they kept in memory is lost with its numbers.
    var endsWithFullDisk: [Int64] = []
    private(set) var gapCount = 0
    private(set) var unknownGapCount = 0
    private(set) var deliveredCount = 0
    private(set) var repeatedCount = 0
    private(set) var missedCount = 0
    private(set) var unknownTimeCount = 0
    private(set) var otherStartCount = 0

    init(_ limits: [HistoryLimits?]) {
        self.limits = limits
        samples = limits.map { _ in [] }
    }

    func add(_ element: Int, at time: Int64) -> UInt64 {
        samples[element].append(Sample(time: time, boot: boots.count - 1))
        return UInt64(samples[element].count - 1)
    }

    /// The program has ended, and what it had not written before that is lost.
    func lose(since time: Int64) {
        for element in samples.indices {
            var index = samples[element].count - 1
            while index >= 0, samples[element][index].time > time {
                samples[element][index].mayBeLost = true
                index -= 1
            }
        }
    }

    /// Whether the limits allow to drop it. Files have more bytes than memory, and are removed whole.
    func mayBeDropped(_ element: Int, _ index: Int, at now: Int64) -> Bool {
        guard let limits = limits[element] else { return false }
        let newer = samples[element].count - index
        if let count = limits.count, newer > count / 2 { return true }
        if let seconds = limits.seconds {
            let sample = samples[element][index]
            // After another start the time of day counts: a jump forward makes values older.
            let jump = sample.boot < boots.count - 1 ? jumps(since: sample.boot).min() ?? 0 : 0
            if now - sample.time - min(jump, 0) > Int64(seconds) * 900_000 { return true }
        }
        return newer > limits.byteCount / 24 * 2 / 5
    }

    /// How much earlier or later a time of a start is by the time of day in later ones.
    private func jumps(since boot: Int, to others: ClosedRange<Int>? = nil) -> [Int64] {
        (others ?? boot...boots.count - 1).flatMap { other in
            boots[boot].anchors.flatMap { then in
                boots[other].anchors.map { then.anchor - $0.anchor + boots[other].began - boots[boot].began }
            }
        }
    }

    // MARK: What a client gets

    /// A client's account of an element.
    struct Track {
        let element: Int
        /// The newest value that came.
        var last: Int?
        /// The gap behind it, if one was told.
        var gap: HistoryGap?
        /// The newest value that came before a gap of which nothing is known: values up to that may come again.
        var known = -1
    }

    func note(_ gap: HistoryGap, _ track: inout Track, at now: Int64) {
        gapCount += 1
        if gap.maximumCount == nil {
            unknownGapCount += 1
            let last = track.last
            check(last != nil || track.known >= 0, "a gap of which nothing is known, for a client without a position")
            if let last {
                let time = samples[track.element][last].time
                check(
                    endsWithFullDisk.contains { $0 >= time } || mayBeDropped(track.element, last, at: now),
                    "a client's position behind value \(last) of element \(track.element) is not known any more")
                track.known = max(track.known, last)
            }
            (track.last, track.gap) = (nil, nil)
            return
        }
        let before = track.gap ?? HistoryGap(count: 0, maximumCount: 0)
        track.gap = HistoryGap(
            count: before.count.flatMap { count in gap.count.map { count + $0 } },
            maximumCount: (before.maximumCount ?? 0) + (gap.maximumCount ?? 0))
    }

    func note(_ value: Int, _ track: inout Track, at now: Int64) {
        let element = track.element
        deliveredCount += 1
        check(samples[element].indices.contains(value), "value \(value) of element \(element) was never sent")
        if let last = track.last {
            check(value > last, "value \(value) of element \(element) came behind \(last)")
            let missing = value - last - 1
            missedCount += missing
            let gap = track.gap
            if missing > 0, gap == nil {
                check(false, "\(missing) values of element \(element) are missing in front of \(value), untold")
            } else if let count = gap?.count {
                check(
                    count == missing,
                    "\(missing) values of element \(element) are missing in front of \(value), \(count) told")
            } else if let most = gap?.maximumCount {
                check(
                    missing <= most && most < UInt64(missing) + 20_000,
                    "\(missing) values of element \(element) are missing in front of \(value), at most \(most) told")
            }
            for index in last + 1..<max(value, last + 1) {
                check(
                    samples[element][index].mayBeLost || mayBeDropped(element, index, at: now),
                    "value \(index) of element \(element), sent at \(samples[element][index].time), is lost, "
                        + "in front of \(value) and behind \(last)"
                )
            }
        }
        if value <= track.known { repeatedCount += 1 }
        (track.last, track.gap) = (value, nil)
    }

    /// - Parameters:
    ///   - time: the client's, by microseconds of the simulation.
    ///   - isLate: whether the service may have answered long ago.
    func note(time: (time: Int64, error: Int64)?, of value: Int, _ element: Int, at now: Int64, isLate: Bool) {
        let sample = samples[element][value]
        let boot = boots[sample.boot]
        let current = boots.count - 1
        guard let time else {
            unknownTimeCount += 1
            guard sample.boot != current else {
                return check(false, "value \(value) of element \(element), of this start, has no time")
            }
            let known = boots[current].anchors.first?.since ?? .max
            check(
                !boot.isAnchorWritten || known > now - (isLate ? 120_000_000 : 5_000_000),
                "value \(value) of element \(element) has no time, and that could be known")
            return
        }
        if sample.boot != current { otherStartCount += 1 }
        // By the time of day if the machine was started since: that may have been set meanwhile.
        var differences: [Int64] = [0]
        if sample.boot != current || isLate {
            differences += jumps(since: sample.boot, to: max(sample.boot, current - 2)...current)
            if sample.boot != current, !isLate { differences.removeFirst() }
        }
        let wrong = differences.map { abs(time.time - sample.time - $0) }.min() ?? .max
        check(
            wrong <= time.error + 2,
            "value \(value) of element \(element), sent at \(sample.time), has the time \(time.time) ± \(time.error)")
    }
}
