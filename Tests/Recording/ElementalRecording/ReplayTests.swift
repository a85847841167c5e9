import Elemental
import ElementalFollowing
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalRecording

/// When values are replayed, and where.
struct ReplayTests {
    private static let elements: ElementCatalogue = [Element<Double>(1, "Speed"), Element<Bool>(2, "Camera")]

    /// 100 values of 100 Hz, and one of another element at the beginning.
    private func withRecording(_ body: (Recording) async throws -> Void) async throws {
        let time = Locked<UInt64>(0)
        var options = RecorderOptions()
        options.clock = RecordingClock(name: "test", start: 1_700_000_000_000_000_000) { time.withLock { $0 } }
        try await RecorderTests.withRecorder(options, Self.elements) { recorder, add in
            try add(.bool(true), "Camera")
            for number in 0..<100 {
                time.withLock { $0 = UInt64(number) * 10_000_000 }
                try add(.double(Double(number)), "Speed")
            }
            _ = await recorder.finish()
            try await body(try await Recording(path: recorder.path))
        }
    }

    /// A clock that only the replay's waits let go on, each a bit longer than asked for.
    private func replay(lateBy late: Duration = .zero, _ configure: (inout Replay) -> Void) -> Replay {
        var replay = Replay()
        let now = Locked(Duration.zero)
        replay.clock = { { now.withLock { $0 } } }
        replay.wait = { duration in now.withLock { $0 += duration + late } }
        configure(&replay)
        return replay
    }

    /// The values with the times at which they came, until there are so many.
    private func deliveries(
        _ replay: Replay, _ recording: Recording, count: Int = .max
    ) async throws -> [(time: Duration, value: ElementValue)] {
        struct Enough: Error {}
        let elapsed = replay.clock()
        var deliveries: [(time: Duration, value: ElementValue)] = []
        do {
            try await replay.run(recording) { item in
                guard case .value(let value) = item.content else { return }
                deliveries.append((elapsed(), value.value))
                if deliveries.count == count { throw Enough() }
            }
        } catch is Enough {}
        return deliveries
    }

    private func milliseconds(_ deliveries: [(time: Duration, value: ElementValue)]) -> [Int] {
        deliveries.map { Int($0.time / .milliseconds(1)) }
    }

    @Test
    func eachValueComesAtItsTime() async throws {
        try await withRecording { recording in
            #expect(recording.duration == .milliseconds(990) && recording.valueCount == 101)
            let once = try await deliveries(replay { _ in }, recording)
            #expect(milliseconds(once) == [0] + (0..<100).map { $0 * 10 })
            #expect(once.map(\.value) == [.bool(true)] + (0..<100).map { .double(Double($0)) })
            let twice = try await deliveries(replay { $0.speed = 2 }, recording)
            #expect(milliseconds(twice) == [0] + (0..<100).map { $0 * 5 })
            let slow = try await deliveries(replay { $0.speed = 0.5 }, recording)
            #expect(milliseconds(slow) == [0] + (0..<100).map { $0 * 20 })
        }
    }

    /// What a wait takes too long does not add up: each value is late by its own wait at most.
    @Test
    func delaysDoNotAddUp() async throws {
        try await withRecording { recording in
            let late = Duration.microseconds(700)
            let values = try await deliveries(replay(lateBy: late) { $0.loops = true }, recording, count: 101 * 20)
            for (number, delivery) in values.enumerated() {
                let (round, place) = number.quotientAndRemainder(dividingBy: 101)
                let due = Duration.milliseconds(round * 1000 + max(0, place - 1) * 10)
                #expect(delivery.time >= due && delivery.time <= due + late, "\(number)")
            }
        }
    }

    /// From the last value to the first of the next round is the time from one value to the next.
    @Test
    func theLoopHasNoSeam() async throws {
        try await withRecording { recording in
            let values = try await deliveries(replay { $0.loops = true }, recording, count: 404)
            let speeds = values.filter { $0.value.type == .double }
            let steps = zip(speeds, speeds.dropFirst()).map { $1.time - $0.time }
            #expect(steps.count == 399 && steps.allSatisfy { $0 == .milliseconds(10) || $0 == .nanoseconds(9_900_000) })
            #expect(values[101].value == .bool(true) && values[102].value == .double(0))
        }
    }

    /// The values that held at the beginning come first, also in the next round.
    @Test
    func itBeginsWhereItIsTold() async throws {
        try await withRecording { recording in
            let replay = replay {
                $0.start = .milliseconds(905)
                $0.loops = true
            }
            let values = try await deliveries(replay, recording, count: 22)
            let expected: [ElementValue] = [.bool(true), .double(90)] + (91..<100).map { .double(Double($0)) }
            #expect(values.map(\.value) == expected + expected)
            #expect(milliseconds(values).prefix(11) == [0, 0, 5, 15, 25, 35, 45, 55, 65, 75, 85])
            await #expect {
                try await deliveries(self.replay { $0.start = .seconds(1) }, recording)
            } throws: {
                ($0 as? RecordingError)?.code == .nothingToReplay
            }
        }
    }

    @Test
    func timesThatAreFarApartAreNoMistake() {
        let schedule = ReplaySchedule(speed: 0.001, start: 0, duration: .max, interval: .max)
        let longest = Duration.nanoseconds(Int64.max)
        #expect(schedule.due(longest, round: .max) == longest)
        let late = ReplaySchedule(speed: 1, start: .max, duration: 0, interval: 1)
        #expect(late.due(.zero, round: 3) == Duration.nanoseconds(3))
        // A day at another speed: to the nanosecond.
        let day = ReplaySchedule(speed: 1, start: 0, duration: 86_400_000_000_000, interval: 1_000_000)
        let time = Duration.seconds(86_399) + Duration.nanoseconds(7)
        #expect(day.due(time, round: 0) == time)
    }

    @Test
    func aReplayThatIsCancelledEnds() async throws {
        try await withRecording { recording in
            var replay = Replay()
            replay.speed = 0.001
            let started = Latch()
            let task = Task { [replay] in try await replay.run(recording) { _ in started.open() } }
            await started.wait()
            task.cancel()
            let result = await task.result
            #expect(throws: CancellationError.self) { try result.get() }
        }
    }

    /// A client of the replayed service sees the catalogue and the values of the first, and the change of its elements.
    @Test
    func aClientCannotTellTheReplayedServiceFromTheFirst() async throws {
        let speed = Element<Float>(1, "Speed", unit: "m/s", range: -1...1, step: 0.1, access: .read)
        let mode = Element<UInt8>(2, "Mode", choices: [0: "off", 1: "heat"])
        let motion = Element<Vector3>(3, "Motion", latest: true)
        let elements: ElementCatalogue = [mode, speed, motion]
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.isPublished = false
        try await withFolder { folder in
            let service = ElementalService("robot", elements: elements, configuration: configuration)
            try service.send(1, to: mode)
            try await service.start()
            let port = try #require(service.port)
            let recorder = try await Recorder(path: "\(folder)/first.mcap")
            let device = try await ElementalDevice.connect(host: "127.0.0.1", port: port, as: "recorder") {
                recorder.record($0)
            }
            let first = try await device.catalogue()
            for number in 1...20 {
                try service.send(Float(number) / 40, to: speed)
                try service.send([Float(number), 0, -1], to: motion)
                // Until it is there a newer one may replace it, and an answer to a ping may overtake it.
                try await eventually("motion \(number)") { device.value(of: motion) == [Float(number), 0, -1] }
            }
            await device.close()
            await service.stop()
            let summary = await recorder.finish()
            #expect(summary.valueCount == 41)

            let recording = try await Recording(path: recorder.path)
            let again = recording.services[0].makeService(configuration: configuration)
            try await again.start()
            let seen = Locked<[ElementValue]>([])
            let client = try await ElementalDevice.connect(
                host: "127.0.0.1", port: try #require(again.port), as: "client"
            ) { client in
                client.onAnyValue { _, value, _ in seen.withLock { $0.append(value) } }
            }
            #expect(try await client.catalogue().wireBytes == first.wireBytes)
            var replay = Replay()
            replay.speed = 100
            var failures = 0
            try await replay.run(recording, on: [again]) { _, error in if error != nil { failures += 1 } }
            _ = try await client.ping()
            try await eventually("the last motion") { client.value(of: motion) == [20, 0, -1] }
            #expect(failures == 0)
            let values = seen.withLock { $0 }
            #expect(values.count { $0.type == .float } == 20 && values.first == .uint8(1))
            #expect(values.filter { $0.type == .float } == (1...20).map { .float(Float($0) / 40) })
            await client.close()
            await again.stop()
        }
    }
}
