import Logging
import TestSupport
import Testing

@testable import Zeroconf

/// Subscribers, and when the work starts and stops. No library and no daemon are needed.
@Suite struct MachineDriverTests {
    private let record = Transcript<String>()
    private let driver: MachineDriver<Recorder>

    init() { driver = MachineDriver(Recorder(record), label: "test", logger: .silent, runsOnDemand: true) }

    @Test func theMachineIsToldOfEachConsumerAndOfTheEndOfTheLast() async throws {
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
        try await eventually("\(record.all)") { record.all == ["start", "start", "update", "stop"] }
    }

    @Test func aStreamThatIsDroppedAtOnceLeavesNothingRunning() async throws {
        _ = driver.subscribe()
        try await eventually("\(record.all)") { record.all == ["start", "stop"] }
    }

    @Test func aConsumerThatIsCancelledLeavesNothingRunning() async throws {
        let task = Task { for await _ in driver.subscribe() {} }
        try await eventually("\(record.all)") { record.all == ["start"] }
        task.cancel()
        try await eventually("\(record.all)") { record.all == ["start", "stop"] }
    }

    @Test func aStreamThatNobodyReadsIsFinishedAtItsLimit() async throws {
        let stream = driver.subscribe()
        for _ in 0..<5000 { driver.send(.update([:])) }
        try await record.next { $0 == "stop" }
        var count = 0
        for await _ in stream { count += 1 }
        #expect(count == 4096)
    }

    @Test func nothingStartsAfterStopping() async throws {
        let stream = driver.subscribe()
        await driver.stop()
        for await _ in stream {}
        for await _ in driver.subscribe() {}
        #expect(record.all == ["start", "stop"])
    }

    private struct Recorder: ServiceMachine {
        let record: Transcript<String>
        private let timer: TimerID

        init(_ record: Transcript<String>) {
            self.record = record
            var numbers = IDGenerator()
            timer = numbers.timer()
        }

        func replay() -> [String] { [] }

        mutating func handle(_ input: MachineInput) -> [MachineAction<String>] {
            switch input {
            case .start: record.add("start")
            case .stop: record.add("stop")
            case .update:
                record.add("update")
                // A time of which there are too many nanoseconds.
                return [.startTimer(timer, .seconds(Int64.max)), .emit("update")]
            case .timer: record.add("timer")
            case .reference: break
            }
            return []
        }
    }
}
