import ElementalFollowing
import Foundation
import Support
import TestSupport
import Testing

@testable import Elemental
@testable import ElementalRecording

/// Values of histories in a recording, and where they end.
struct RecordedHistoryTests {
    static let count = Element<UInt32>(1, "Count", access: .read).withHistory(HistoryLimits(seconds: 60))
    private static let plain = Element<UInt32>(2, "Plain")
    static let elements: ElementCatalogue = [count, plain]
    private static let rover = RecorderTests.rover

    static func position(_ number: UInt32) throws -> HistoryPosition {
        var position = try #require(HistoryPosition(String(repeating: "0", count: 64)))
        (position.number, position.check) = (UInt64(number), UInt64(number))
        return position
    }

    static func value(_ number: UInt32, age: Duration = .zero) throws -> FollowerEvent {
        let time = MeasurementTime(microseconds: MeasurementTime.now.microseconds - age.nanoseconds / 1000)
        let received = ReceivedTime(time: time, error: .zero, secondsSince1970: nil)
        let value = HistoryValue<ElementValue>(
            value: .uint32(number), time: received, isPast: true, position: try position(number), serviceTime: nil)
        return .history(rover, count, .value(value))
    }

    @Test("a value is published when it was measured, and what is missing is told in its place")
    func timesAndGaps() async throws {
        try await withFolder { folder in
            let recorder = try await Recorder(path: "\(folder)/test.mcap")
            RecorderTests.connect(recorder, Self.rover, Self.elements)
            recorder.note(try Self.value(1, age: .seconds(3600)))
            recorder.note(.history(Self.rover, Self.count, .gap(HistoryGap(count: 5, maximumCount: 5))))
            recorder.note(.history(Self.rover, Self.count, .gap(HistoryGap(count: nil, maximumCount: 7))))
            recorder.note(try Self.value(9, age: .seconds(1800)))
            await recorder.finish()
            let recording = try await Recording(path: recorder.path)
            #expect(recording.services.first?.elements == Self.elements)
            let items = try await RecorderTests.items(recording)
            let ages = RecorderTests.values(items).map { ($0.age / .seconds(1)).rounded() }
            #expect(ages == [3600, 1800])
            let events = items.compactMap { if case .event(let event, _) = $0.content { event } else { nil } }
            #expect(events.map(\.kind) == [.connected, .lost, .lost])
            #expect(events.map(\.count) == [nil, 5, nil])
            #expect(events.last?.instance == Self.rover.name && events.last?.reason?.contains("at most 7") == true)
        }
    }

    @Test("there is always room for a value of a history, and the next one waits")
    func room() async throws {
        var options = RecorderTests.options()
        options.maximumPendingByteCount = 1000
        options.interval = .seconds(3600)
        try await withFolder { folder in
            let recorder = try await Recorder(path: "\(folder)/test.mcap", options: options)
            RecorderTests.connect(recorder, Self.rover, Self.elements)
            for number in 1...100 as ClosedRange<UInt32> { recorder.note(try Self.value(number)) }
            let hasRoom = Locked(false)
            let waiting = Task {
                await recorder.waitForRoom()
                hasRoom.withLock { $0 = true }
            }
            await Task.yield()
            #expect(!hasRoom.withLock { $0 })
            await recorder.flush()
            await waiting.value
            let summary = await recorder.finish()
            #expect(summary.valueCount == 100 && summary.lostCount == 0)
        }
    }

    @Test("positions are those of values in the file, and those behind them are counted")
    func positions() async throws {
        var options = RecorderTests.options()
        let told = Locked<[RecordedPositions]>([])
        options.interval = .seconds(3600)
        options.onPositions = { positions in told.withLock { $0.append(positions) } }
        try await withFolder { folder in
            let recorder = try await Recorder(path: "\(folder)/test.mcap", options: options)
            RecorderTests.connect(recorder, Self.rover, Self.elements)
            for number in 1...10 as ClosedRange<UInt32> { recorder.note(try Self.value(number)) }
            await recorder.flush()
            let (beginning, first) = (try #require(told.withLock { $0.first }), try #require(told.withLock { $0.last }))
            #expect(beginning.positions.map(\.position.number) == [try Self.position(1).number - 1])
            #expect(first.positions.map(\.position) == [try Self.position(10)])
            #expect(first.positions.map(\.element) == ["Count"] && first.positions.map(\.key) == [Self.rover])
            recorder.note(.value(Self.rover, Self.plain.definition, .uint32(1)))
            await recorder.flush()
            #expect(told.withLock { $0.count } == 2)
            for number in 11...14 as ClosedRange<UInt32> { recorder.note(try Self.value(number)) }
            await recorder.finish()
            let last = try #require(told.withLock { $0.last })
            #expect(last.positions.map(\.position) == [try Self.position(14)])
            func counts(_ positions: RecordedPositions, start: UInt64? = nil) -> [UInt16: Int]? {
                Recording.messageCounts(
                    of: recorder.path, begunAt: start ?? positions.start, behind: positions.byteCount)
            }
            let channel = try #require(first.positions.first).channel
            #expect(counts(first)?[channel] == 4 && counts(first)?.values.reduce(0, +) == 5)
            #expect(counts(last)?.isEmpty == true && counts(beginning)?[channel] == 14)
            #expect(counts(first, start: 5) == nil)
            #expect(Recording.messageCounts(of: "\(folder)/other", begunAt: first.start, behind: 1) == nil)
        }
    }
}
