import Elemental
import Support
import TestSupport
import Testing

@testable import ElementalFollowing

/// Values that a follower takes from the histories of services.
@Suite(.backstop)
struct FollowerHistoryTests {
    private enum Weather {
        static let count = Element<UInt32>(1, "Count", access: .read).withHistory(HistoryLimits())
        static let short = Element<UInt32>(2, "Short", transport: .udp, access: .read).withTimes
            .withHistory(HistoryLimits(count: 10))
        static let plain = Element<UInt32>(3, "Plain")
        static let secret = Element<UInt32>(4, "Secret", access: .read).readable(by: .control)
            .withHistory(HistoryLimits())
        static let text = Element<String>(5, "Text", access: .read).withHistory(HistoryLimits())
        static let all: ElementCatalogue = [count, short, plain, secret, text]
    }

    private static func items(
        _ log: FollowerLog, _ element: some AnyElement
    ) -> [HistoryItem<ElementValue>] {
        log.events.compactMap { if case .history(_, element.definition, let item) = $0 { item } else { nil } }
    }

    private static func values(_ log: FollowerLog, _ element: some AnyElement) -> [HistoryValue<ElementValue>] {
        items(log, element).compactMap { if case .value(let value) = $0 { value } else { nil } }
    }

    private static func gaps(_ log: FollowerLog, _ element: some AnyElement) -> [HistoryGap] {
        items(log, element).compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
    }

    @Test("values come once and in order with their positions, those of the past first, also over several connections")
    func pastAndPresent() async throws {
        let service = try await startService(Weather.all)
        for number in 1...1000 as ClosedRange<UInt32> { try service.send(number, to: Weather.count) }
        try await follow(service) {
            $0.history = { _, element in element.name == "Count" ? .oldest : nil }
        } _: { key, follower, log in
            try await eventually("the past") { Self.values(log, Weather.count).count == 1000 }
            #expect(Self.values(log, Weather.count).allSatisfy { $0.isPast && $0.time != nil })
            for number in 1001...1500 as ClosedRange<UInt32> { try service.send(number, to: Weather.count) }
            try await eventually("the present") { Self.values(log, Weather.count).count == 1500 }
            #expect(Self.values(log, Weather.count).contains { !$0.isPast })
            // The follower begins anew, with another device.
            try #require(follower.device(of: key)).disconnect()
            for number in 1501...2000 as ClosedRange<UInt32> { try service.send(number, to: Weather.count) }
            try await log.wait(for: "connected", of: key, 2)
            try await eventually("what was missed") { Self.values(log, Weather.count).count >= 2000 }
            try service.send(7, to: Weather.plain)
            try service.send(8, to: Weather.short)
            try await eventually { log.values(of: key, Weather.plain).last == .uint32(7) }
            try await eventually { log.values(of: key, Weather.short).last == .uint32(8) }
            let values = Self.values(log, Weather.count)
            #expect(values.map(\.value) == (1...2000).map { .uint32($0) })
            #expect(Set(values.map(\.position)).count == 2000)
            #expect(Self.gaps(log, Weather.count).isEmpty)
            #expect(log.values(of: key, Weather.count).isEmpty && Self.items(log, Weather.short).isEmpty)
            // No value precedes the connection.
            let connected = log.events.firstIndex { if case .state(_, .connected) = $0 { true } else { false } }
            let first = log.events.firstIndex { if case .history = $0 { true } else { false } }
            #expect(try #require(connected) < (try #require(first)))
        }
    }

    @Test("it goes on behind a position, and what was dropped is told")
    func gaps() async throws {
        let service = try await startService(Weather.all)
        for number in 1...10 as ClosedRange<UInt32> { try service.send(number, to: Weather.short) }
        let position = Locked<HistoryPosition?>(nil)
        let change: (inout FollowerOptions) -> Void = { options in
            options.history = { _, element in
                guard element.name == "Short" else { return nil }
                return position.withLock { $0.map { .position($0) } } ?? .oldest
            }
        }
        try await withFollower([service.subject], change) { _, log in
            try await eventually { Self.values(log, Weather.short).count == 10 }
            position.withLock { $0 = Self.values(log, Weather.short).last?.position }
        }
        for number in 11...35 as ClosedRange<UInt32> { try service.send(number, to: Weather.short) }
        try await withFollower([service.subject], change) { _, log in
            try await eventually { Self.values(log, Weather.short).count == 10 }
            #expect(Self.values(log, Weather.short).map(\.value) == (26...35).map { .uint32($0) })
            #expect(Self.gaps(log, Weather.short) == [HistoryGap(count: 15, maximumCount: 15)])
        }
        await service.stop()
    }

    @Test("an observer without room makes the service wait: no value is asked for meanwhile")
    func aSlowObserver() async throws {
        let service = try await startService(Weather.all)
        let text = String(repeating: "x", count: 3000)
        for number in 0..<500 { try service.send("\(number) \(text)", to: Weather.text) }
        var options = FollowerOptions(name: "tester")
        options.connect.timeout = Patience.wait
        options.history = { _, element in element.name == "Text" ? .oldest : nil }
        let follower = Follower([service.subject], options)
        let (log, room) = (FollowerLog(), Latch())
        follower.onEvent({ log.add($0) }, room: { await room.wait() })
        let running = Task { try await follower.run() }
        try await carryOut {
            try await eventually { Self.values(log, Weather.text).count == 1 }
            let device = try #require(follower.device(of: service.key))
            let received = device.statistics.bytesReceived
            for _ in 0..<20 { _ = try await device.ping() }
            #expect(Self.values(log, Weather.text).count == 1)
            #expect(device.statistics.bytesReceived - received < 3000)
            room.open()
            try await eventually { Self.values(log, Weather.text).count == 500 }
        } finally: {
            running.cancel()
            try await running.value
            await service.stop()
        }
    }

    @Test("a slow consumer of values in their order gets all values of a history")
    func aSlowConsumer() async throws {
        let service = try await startService(Weather.all)
        for number in 1...20_000 as ClosedRange<UInt32> { try service.send(number, to: Weather.count) }
        var options = FollowerOptions(name: "tester")
        options.connect.timeout = Patience.wait
        options.history = { _, element in element.name == "Count" ? .oldest : nil }
        let follower = Follower([service.subject], options)
        let values = follower.values(.inOrder)
        let running = Task { try await follower.run() }
        try await carryOut {
            var expected: UInt32 = 1
            for await value in values where value.element.name == "Count" {
                #expect(value.value == .uint32(expected))
                expected += 1
                if expected > 20_000 { break }
            }
            #expect(values.droppedCount == 0)
        } finally: {
            running.cancel()
            try await running.value
            await service.stop()
        }
    }

    @Test("histories count towards the memory: where there is no room an element has its live values, which is told")
    func memory() async throws {
        let service = try await startService(Weather.all)
        try service.send(5, to: Weather.count)
        try await follow(service) {
            $0.maximumByteCount = 1000
            $0.history = { _, _ in .oldest }
        } _: { key, _, log in
            try await eventually { log.values(of: key, Weather.count) == [.uint32(5)] }
            #expect(log.events.contains { if case .leftOut(key, _, _) = $0 { true } else { false } })
            #expect(Self.items(log, Weather.count).isEmpty)
        }
    }
}
