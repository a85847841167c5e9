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

    @Test func aSurveyEndsAndOtherStreamsDoNot() async throws {
        let stream = driver.subscribe()
        let survey = driver.subscribe(isSurvey: true)
        driver.send(.update([:]))
        var events: [String] = []
        for await event in survey { events.append(event) }
        // What is known already is a survey's too, which then ends at once.
        for await event in driver.subscribe(isSurvey: true) { events.append(event) }
        #expect(events == ["update"])
        driver.send(.update([:]))
        var updates = 0
        for await _ in stream {
            updates += 1
            if updates == 2 { break }
        }
        #expect(record.all == ["start", "start", "survey", "update", "start", "survey", "update"])
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
        private(set) var isSurveyed = false

        init(_ record: Transcript<String>) {
            self.record = record
            var numbers = IDGenerator()
            timer = numbers.timer()
        }

        func replay() -> [String] { [] }

        mutating func handle(_ input: MachineInput) -> [MachineAction<String>] {
            switch input {
            case .start: record.add("start")
            case .survey: record.add("survey")
            case .stop: record.add("stop")
            case .update:
                record.add("update")
                isSurveyed = true
                // A time of which there are too many nanoseconds.
                return [.startTimer(timer, .seconds(Int64.max)), .emit("update")]
            case .timer: record.add("timer")
            case .reference: break
            }
            return []
        }
    }
}
