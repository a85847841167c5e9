import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalHistory

/// What a history keeps, drops and answers.
struct HistoryLogTests {
    /// The numbers and bytes of an answer's values.
    private static func values(_ answer: HistoryAnswer) -> [(number: UInt64, time: Int64, bytes: [UInt8])] {
        var values: [(UInt64, Int64, [UInt8])] = []
        var number = answer.first
        answer.forEach { time, bytes in
            values.append((number, time, Array(bytes)))
            number += 1
        }
        return values
    }

    private static func append(_ number: Int, to log: inout HistoryLog, byteCount: Int = 4, now: Int64 = 0) {
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
        bytes.withUnsafeBytes { log.append($0, at: Int64(number) * 10, now: now) }
    }

    /// All values behind a position, by as many answers as that takes, the gaps, and the position behind them.
    private static func all(
        _ log: HistoryLog, behind start: HistoryStart
    ) -> (numbers: [UInt64], gaps: [HistoryGap], end: HistoryPosition) {
        var (numbers, gaps): ([UInt64], [HistoryGap]) = ([], [])
        var start = start
        while true {
            let answer = log.answer(7, behind: start)
            let values = values(answer)
            let check = values.last.map { $0.bytes.withUnsafeBytes { HistoryPosition.check($0) } }
            let end = HistoryPosition(
                life: answer.life, number: answer.first + UInt64(values.count) - 1, check: check ?? answer.check)
            if let gap = answer.gap { gaps.append(gap) }
            if values.isEmpty { return (numbers, gaps, end) }
            #expect(values.count == 1 || answer.values.count <= HistoryAnswer.fullByteCount)
            numbers += values.map(\.number)
            start = .position(end)
        }
    }

    @Test("values come back in order, whatever their length, and by the limits the newest ones")
    func random() {
        for seed in 1...12 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let limits = HistoryLimits(
                count: Bool.random(using: &random) ? .random(in: 1...300, using: &random) : nil,
                byteCount: .random(in: 100...300_000, using: &random))
            var log = HistoryLog(limits)
            var kept: [(number: UInt64, size: Int, isOmitted: Bool)] = []
            for number in 1...300 {
                let byteCount =
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0: Int.random(in: 0...70_000, using: &random)
                    default: Int.random(in: 0...40, using: &random)
                    }
                Self.append(number, to: &log, byteCount: byteCount)
                let isOmitted = byteCount > HistoryLimits.maximumValueByteCount
                kept.append((UInt64(number), isOmitted ? 16 : 16 + byteCount, isOmitted))
                while kept.reduce(0, { $0 + $1.size }) > limits.byteCount { kept.removeFirst() }
                if let count = limits.count { kept.removeAll { $0.number + UInt64(count) <= UInt64(number) } }
                #expect(log.byteCount == kept.reduce(0) { $0 + $1.size })
                guard number.isMultiple(of: 37) else { continue }
                let wanted = kept.filter { !$0.isOmitted }.map(\.number)
                let (numbers, _, end) = Self.all(log, behind: .newest(.max))
                #expect(numbers == wanted, "seed \(seed), value \(number)")
                #expect(end == log.end)
                // From every position that was given.
                let answer = log.answer(1, behind: .newest(.max))
                var position = HistoryPosition(life: answer.life, number: answer.first - 1, check: answer.check)
                for value in Self.values(answer) {
                    position.number += 1
                    position.check = value.bytes.withUnsafeBytes { HistoryPosition.check($0) }
                    let rest = Self.all(log, behind: .position(position)).numbers
                    #expect(rest == wanted.filter { $0 > position.number }, "seed \(seed)")
                }
            }
        }
    }

    @Test("a time finds the first value that is not older, the newest ones are counted from the end")
    func starts() {
        var log = HistoryLog(HistoryLimits())
        for number in 1...10_000 { Self.append(number, to: &log) }
        for (start, first) in [
            (.time(.min), 1), (.time(0), 1), (.time(10), 1), (.time(11), 2), (.time(55_555), 5556),
            (.time(100_000), 10_000),
            (.time(100_001), 10_001), (.time(.max), 10_001), (.newest(0), 10_001), (.newest(1), 10_000),
            (.newest(10_000), 1), (.newest(.max), 1),
        ] as [(HistoryStart, UInt64)] {
            #expect(log.answer(1, behind: start).first == first, "\(start)")
        }
    }

    @Test("positions of another life, with another check, or of what never was are not known")
    func foreignPositions() {
        var log = HistoryLog(HistoryLimits(count: 100))
        for number in 1...10_000 { Self.append(number, to: &log) }
        let end = log.end
        let none = log.answer(1, behind: .position(end))
        #expect(none.first == 10_001 && none.gap == nil && none.values.isEmpty)
        for position in [
            HistoryPosition(life: HistoryLife(), number: 9950, check: end.check),
            HistoryPosition(life: end.life, number: 10_000, check: end.check ^ 1),
            HistoryPosition(life: end.life, number: 9950, check: 1),
            HistoryPosition(life: end.life, number: 10_001, check: 0),
            HistoryPosition(life: end.life, number: .max, check: 0),
        ] {
            let answer = log.answer(1, behind: .position(position))
            #expect(answer.first == 9901, "\(position)")
            #expect(answer.gap == HistoryGap(count: nil, maximumCount: nil), "\(position)")
        }
        // Of what was dropped nothing is known: the values that are missing are told by their number.
        let dropped = log.answer(1, behind: .position(HistoryPosition(life: end.life, number: 5, check: 1)))
        #expect(dropped.first == 9901 && dropped.gap == HistoryGap(count: 9895, maximumCount: 9895))
    }

    @Test("a limit that is set later drops what was kept for longer")
    func laterLimit() {
        var log = HistoryLog(HistoryLimits())
        for number in 1...3 { Self.append(number, to: &log, now: Int64(number) * 1000) }
        log.limits = HistoryLimits(seconds: 10)
        log.trim(now: 12_500)
        #expect(log.oldest == 3)
    }

    @Test("what was kept for longer than the limit is dropped")
    func seconds() {
        var log = HistoryLog(HistoryLimits(seconds: 60))
        for number in 1...100 { Self.append(number, to: &log, now: Int64(number) * 1000) }
        #expect(log.oldest == 40)
        log.trim(now: 110_000)
        #expect(log.oldest == 50)
        log.trim(now: 1_000_000)
        #expect(log.oldest == 101 && log.byteCount == 0)
        Self.append(101, to: &log, now: 1_000_000)
        #expect(Self.all(log, behind: .newest(.max)).numbers == [101])
    }

    @Test("a position is kept as text")
    func text() throws {
        let position = HistoryPosition(life: HistoryLife(), number: 77, check: .max - 5)
        #expect(HistoryPosition(position.description) == position)
        for text in ["", "00", position.description + "00", String(position.description.dropLast()) + "g"] {
            #expect(HistoryPosition(text) == nil)
        }
    }

    @Test("an element that is redefined begins another history, and an old connection reads none of it")
    func redefinition() throws {
        let limits = HistoryLimits()
        let pin = Element<UInt64>(1, "PIN", access: .read).readable(by: .control).withHistory(limits)
        /// The answer's values; `nil` for a refusal.
        func values(_ histories: ServiceHistories, _ element: ElementDefinition) throws -> [[UInt8]]? {
            let request = HistoryRequest(token: 1, element: 1, from: .newest(.max), waits: false)
            let bytes = try #require(histories.answer(request, element, for: ObjectIdentifier(histories)) {})
            let answer = try #require(bytes.withUnsafeBytes { HistoryAnswer(wireBytes: $0) })
            return answer.refusal == nil ? Self.values(answer).map(\.bytes) : nil
        }
        for other in [
            Element<UInt64>(1, "PIN", access: .read).withHistory(limits),
            Element<UInt64>(1, "Counter", access: .read).readable(by: .control).withHistory(limits),
            Element<Int64>(1, "PIN", access: .read).readable(by: .control).withHistory(limits),
        ] as [ElementDefinition] {
            let histories = ServiceHistories(.still)
            histories.keepOnly([pin])
            [1].withUnsafeBytes { histories.append(pin.id, $0, at: nil) }
            #expect(try values(histories, pin)?.count == 1)
            // Before the catalogue is replaced, and after that.
            #expect(try values(histories, other) == nil)
            histories.keepOnly([other])
            #expect(histories.byteCount == 0)
            [2].withUnsafeBytes { histories.append(other.id, $0, at: nil) }
            #expect(try values(histories, other)?.count == 1)
            #expect(try values(histories, pin) == nil)
        }
        // What a role may set does not matter, and limits may change.
        let histories = ServiceHistories(.still)
        let settable = Element<UInt64>(1, "PIN").readable(by: .control).withHistory(limits)
        histories.keepOnly([settable])
        [1].withUnsafeBytes { histories.append(settable.id, $0, at: nil) }
        [2].withUnsafeBytes { histories.append(settable.id, $0, at: nil) }
        #expect(try values(histories, pin)?.count == 2)
        histories.keepOnly([pin.withHistory(HistoryLimits(count: 1))])
        [3].withUnsafeBytes { histories.append(pin.id, $0, at: nil) }
        #expect(try values(histories, pin)?.count == 1)
    }

    @Test("a request that waits is looked at again when its history ends, with its element or without")
    func endOfAHistory() throws {
        let pin = Element<UInt64>(1, "PIN", access: .read).withHistory(HistoryLimits())
        for catalogue in [[], [Element<UInt64>(1, "PIN", access: .read)]] as [ElementCatalogue] {
            let histories = ServiceHistories(.still)
            histories.keepOnly([pin])
            let owner = ObjectIdentifier(histories)
            let ask = { (start: HistoryStart, wake: @escaping @Sendable () -> Void) in
                let request = HistoryRequest(token: 1, element: 1, from: start, waits: true)
                return histories.answer(request, pin, for: owner, wake: wake)
                    .flatMap { $0.withUnsafeBytes { HistoryAnswer(wireBytes: $0) } }
            }
            let empty = try #require(ask(.newest(.max)) {})
            let end = HistoryPosition(life: empty.life, number: empty.next - 1, check: empty.check)
            let wakes = Locked(0)
            #expect(ask(.position(end)) { wakes.withLock { $0 += 1 } } == nil)
            histories.keepOnly(catalogue)
            #expect(wakes.withLock { $0 } == 1)
            #expect(try #require(ask(.position(end)) {}).refusal == .unknown)
        }
    }

    @Test("all histories of a service have a limit in bytes, and share it")
    func budget() throws {
        let histories = ServiceHistories(.still)
        let elements = (0..<8).map { Element<Data>($0, "E\($0)").withHistory(HistoryLimits()) }
        let value = [UInt8](repeating: 7, count: 60_000)
        histories.keepOnly(try ElementCatalogue(elements))
        for number in 0..<(80 << 20) / 60_000 {
            value.withUnsafeBytes { histories.append(elements[number % 8].id, $0, at: 0) }
            #expect(histories.byteCount <= ServiceHistories.maximumByteCount)
        }
        #expect(histories.byteCount > ServiceHistories.maximumByteCount - 100_000)
        histories.keepOnly([elements[0]])
        #expect(histories.byteCount <= 9 << 20 && histories.byteCount > 0)
        histories.keepOnly([Element<Data>(0, "E0")])
        #expect(histories.byteCount == 0)
    }
}

extension HistoryClock {
    /// One that stands still.
    static var still: HistoryClock {
        HistoryClock(time: { 0 }, anchor: { 0 }, start: [UInt8](repeating: 1, count: 16))
    }
}
