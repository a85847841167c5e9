import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalHistory
@testable import ElementalSecurity

/// Histories in files, across runs of the service's program.
struct HistoryFilesTests {
    private static let start = [UInt8](repeating: 1, count: 16)
    private static let otherStart = [UInt8](repeating: 2, count: 16)

    @Test("a client goes on from run to run: without a gap after an end in order, with a bound after a crash")
    func runs() async throws {
        try await HistoryBed.with { bed in
            var start = HistoryStart.newest(.max)
            var last: UInt64 = 0
            for (round, endsInOrder) in [true, true, false, true, false, false, true].enumerated() {
                let run = try HistoryRun(bed)
                // What the client missed of the run before: everything was written.
                let before = HistoryBed.pull(run.log, behind: &start)
                #expect(before.compactMap(\.value) == (round == 0 ? [] : [last - 1, last]), "round \(round)")
                for _ in 0..<4 {
                    last += 1
                    run.append(last)
                }
                try run.write()
                let items = HistoryBed.pull(run.log, behind: &start)
                #expect(items.compactMap(\.value) == Array(last - 3...last), "round \(round)")
                #expect(items.allSatisfy { $0.gap == nil }, "round \(round)")
                for _ in 0..<2 {
                    last += 1
                    run.append(last)
                }
                try run.write()
                if endsInOrder { try run.synchronise(isEnd: true) }
            }
            // And from the beginning, with every gap.
            let run = try HistoryRun(bed)
            start = .newest(.max)
            let items = HistoryBed.pull(run.log, behind: &start)
            #expect(items.compactMap(\.value) == Array(1...last))
            let gaps = items.compactMap(\.gap)
            #expect(gaps.count == 3 && gaps.allSatisfy { $0.count == nil && (1...256).contains($0.maximumCount ?? 0) })
            #expect(items.first?.gap == nil && items.last?.gap == nil)
        }
    }

    @Test("a backup that was put back is told from what it was a backup of")
    func backup() async throws {
        try await HistoryBed.with { bed in
            try {
                let run = try HistoryRun(bed)
                run.append(1...5)
                try run.write()
                try run.synchronise(isEnd: true)
            }()
            let backup = try bed.files()
            var start = HistoryStart.newest(.max)
            try {
                let run = try HistoryRun(bed)
                run.append(6...9)
                try run.write()
                _ = HistoryBed.pull(run.log, behind: &start)
            }()
            let run = try bed.open(backup)
            run.append(106...108)
            let items = HistoryBed.pull(run.log, behind: &start)
            #expect(items.first?.gap == HistoryGap(count: nil, maximumCount: nil))
            #expect(items.compactMap(\.value) == [1, 2, 3, 4, 5, 106, 107, 108])
        }
    }

    @Test("files are removed with their values, by each limit, and never have more bytes than the history may")
    func limits() async throws {
        for limits in [
            HistoryLimits(count: 1000), HistoryLimits(seconds: 60), HistoryLimits(byteCount: 40_000),
            HistoryLimits(byteCount: 100),
        ] {
            try await HistoryBed.with { bed in
                let run = try HistoryRun(bed)
                run.log.limits = limits
                var most = 0
                for value in 1...6000 as ClosedRange<UInt64> {
                    run.append(value, now: Int64(value) * 60)
                    if value.isMultiple(of: 5) { try run.write() }
                    guard value.isMultiple(of: 50) else { continue }
                    most = max(most, try bed.files().values.reduce(0) { $0 + $1.count })
                }
                #expect(most <= max(3 * limits.byteCount + 64 * 1024, 8192) + 8192, "\(limits)")
                let values = run.values
                #expect(values.count <= 1667 && values.last == 6000)
            }
        }
    }

    @Test(
        "times are those of this machine's clock, also after it was started anew, if it knew and knows the time of day")
    func times() async throws {
        for (then, now, expected) in [
            (1_000_000, 5_000_000, -3_995_000), (0, 5_000_000, nil), (1_000_000, 0, nil),
        ] as [(Int64, Int64, Int64?)] {
            try await withFolder { folder in
                let path = folder + "/history"
                try {
                    let clock = HistoryClock(time: { 0 }, anchor: { then }, start: Self.start)
                    let run = try HistoryRun(HistoryBed(path: path, clock: clock))
                    run.append(7, at: 5000)
                    try run.write()
                    // The program is started anew, and the machine is not.
                    #expect(run.log.next == 2)
                }()
                let same = HistoryClock(time: { 0 }, anchor: { 0 }, start: Self.start)
                var start = HistoryStart.newest(.max)
                try {
                    let run = try HistoryRun(HistoryBed(path: path, clock: same))
                    #expect(HistoryBed.pull(run.log, behind: &start).first?.time == 5000)
                }()
                let other = HistoryClock(time: { 0 }, anchor: { now }, start: Self.otherStart)
                let run = try HistoryRun(HistoryBed(path: path, clock: other))
                start = .newest(.max)
                let item = try #require(HistoryBed.pull(run.log, behind: &start, anchor: now).first)
                #expect(item.value == 7 && item.time == expected ?? HistoryAnswer.unknownTime)
                // A time that is asked for finds it, or not.
                let answer = run.log.answer(1, behind: .time(-3_995_000), anchor: now)
                #expect(answer.values.isEmpty == (expected == nil))
                #expect(run.log.answer(1, behind: .time(-3_994_999), anchor: now).values.isEmpty)
            }
        }
    }

    @Test("others' files are refused, and what is no file of a history is left alone")
    func strangers() async throws {
        try await HistoryBed.with { bed in
            try {
                let run = try HistoryRun(bed)
                run.append(1)
                try run.write()
                // Another program cannot open them meanwhile.
                let error = #expect(throws: SecurityError.self) { try HistoryRun(bed) }
                #expect(error?.code == .locked)
            }()
            try Data("notes".utf8).write(to: URL(fileURLWithPath: bed.path + "/notes.txt"))
            #expect(try HistoryRun(bed).values == [1])
            #expect(FileManager.default.fileExists(atPath: bed.path + "/notes.txt"))
            let name = try #require(try bed.files().keys.first { $0.hasPrefix("1-") })
            #expect(chmod("\(bed.path)/\(name)", 0o644) == 0)
            let error = #expect(throws: SecurityError.self) { try HistoryRun(bed) }
            #expect(error?.code == .insecure)
        }
    }
}
