import Logging
import Support
import Testing

@testable import Zeroconf

/// Subscribers, and when the work starts and stops. No library and no daemon are needed.
@Suite struct MachineDriverTests {
    @Test func theMachineIsToldOfEachConsumerAndOfTheEndOfTheLast() async throws {
        let record = Record()
        let driver = MachineDriver(Recorder(record), label: "test", logger: .silent, runsOnDemand: true)
        do {
            let one = driver.subscribe()
            let two = driver.subscribe()
            driver.send(.update([:]))
            for await event in one {
                #expect(event == "update")
                break
            }
            for await event in two {
                #expect(event == "update")
                break
            }
        }
        try await record.wait(for: ["start", "start", "update", "stop"])
    }

    @Test func aStreamThatIsDroppedAtOnceLeavesNothingRunning() async throws {
        let record = Record()
        let driver = MachineDriver(Recorder(record), label: "test", logger: .silent, runsOnDemand: true)
        _ = driver.subscribe()
        try await record.wait(for: ["start", "stop"])
    }

    @Test func aConsumerThatIsCancelledLeavesNothingRunning() async throws {
        let record = Record()
        let driver = MachineDriver(Recorder(record), label: "test", logger: .silent, runsOnDemand: true)
        let task = Task { for await _ in driver.subscribe() {} }
        try await record.wait(for: ["start"])
        task.cancel()
        try await record.wait(for: ["start", "stop"])
    }

    @Test func aStreamThatNobodyReadsIsFinishedAtItsLimit() async throws {
        let record = Record()
        let driver = MachineDriver(Recorder(record), label: "test", logger: .silent, runsOnDemand: true)
        let stream = driver.subscribe()
        for _ in 0..<5000 { driver.send(.update([:])) }
        try await record.wait { $0.contains("stop") }
        var count = 0
        for await _ in stream { count += 1 }
        #expect(count == 4096)
    }

    @Test func nothingStartsAfterStopping() async throws {
        let record = Record()
        let driver = MachineDriver(Recorder(record), label: "test", logger: .silent, runsOnDemand: true)
        let stream = driver.subscribe()
        await driver.stop()
        for await _ in stream {}
        for await _ in driver.subscribe() {}
        #expect(record.inputs == ["start", "stop"])
    }

    private final class Record: Sendable {
        private let state = Locked<[String]>([])

        var inputs: [String] { state.withLock { $0 } }

        func add(_ input: String) { state.withLock { $0.append(input) } }

        func wait(for expected: [String]) async throws {
            try await wait { $0 == expected }
        }

        func wait(until isDone: ([String]) -> Bool) async throws {
            let deadline = ContinuousClock.now + .seconds(20)
            while !isDone(inputs), ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(5), clock: .suspending)
            }
            #expect(isDone(inputs), "\(inputs.suffix(10))")
        }
    }

    private struct Recorder: ServiceMachine {
        let record: Record

        init(_ record: Record) {
            self.record = record
        }

        func replay() -> [String] { [] }

        mutating func handle(_ input: MachineInput) -> [MachineAction<String>] {
            switch input {
            case .start: record.add("start")
            case .stop: record.add("stop")
            case .update:
                record.add("update")
                return [.emit("update")]
            case .reference, .timer: break
            }
            return []
        }
    }
}
