import Elemental
import Support

/// Round trips at a fixed rate through a bench service's echo: each begins when it is due and is timed from then, or with a
/// ``Pace`` from just before it is sent.
final class PacedEchoTrips<Value: NumberedValue>: Sendable {
    private struct State: Sendable {
        var report: LatencyReport
        var numbers = SequenceCounter()
        var message: Value
        /// The sending time of each round trip, if it is timed from then.
        var sendTimes: [UInt64] = []
    }

    private let line: EchoLine<Value>
    private let run = MessageNumber.newRun()
    private let count: Int
    private let pacer: Pacer
    private let pace: Pace?
    private let isPacedByLoop: Bool
    private let state: Locked<State>
    private let measurement = Measurement<Void>()

    /// - Parameters:
    ///   - size: the bytes of each message's value.
    ///   - rate: round trips a second.
    ///   - pace: the sender; `nil` for the connection's event loop or a thread that polls the clock.
    ///   - isPacedByLoop: without a pace, whether the event loop sends.
    init(
        _ line: EchoLine<Value>, _ report: LatencyReport, count: Int, size: Int, rate: Double, pace: Pace?,
        isPacedByLoop: Bool
    ) {
        self.line = line
        self.pace = pace
        self.isPacedByLoop = isPacedByLoop
        self.count = count
        pacer = Pacer(count: count, rate: rate, isExact: pace == nil)
        var state = State(report: report, message: Value(MessageNumber(run: run), byteCount: size))
        // In a longer run the array grows.
        if pace != nil { state.sendTimes.reserveCapacity(min(count, 1 << 20)) }
        self.state = Locked(state)
    }

    func run() async throws(ElementalError) -> LatencyReport {
        let stopListening = try await line.listen(measurement) { [self] in take($0) }
        defer { stopListening() }
        let action: @Sendable (Int) -> Void = { [self] number in send(number) }
        switch pace ?? (isPacedByLoop ? .timer : .thread) {
        case .timer: pacer.start(on: line.device, action)
        case .thread: pacer.start(action)
        case .task: pacer.startTask(action)
        }
        defer { pacer.cancel() }
        let deadline = Task { [self] in
            await Delay.wait(pacer.duration + line.timeout)
            if !Task.isCancelled { measurement.end(.success(())) }
        }
        defer { deadline.cancel() }
        try await measurement.result()
        var report = state.withLock { $0.report }
        guard report.count > 0 else { throw line.silence }
        report.recordLosses(count - report.count)
        return report
    }

    private func send(_ number: Int) {
        let message = state.withLock { state in
            state.message.number = MessageNumber(run: run, sequence: UInt64(number))
            if pace != nil { state.sendTimes.append(MonotonicClock.nanoseconds) }
            return state.message
        }
        line.send(message, measurement)
    }

    private func take(_ value: Value) {
        let now = MonotonicClock.nanoseconds
        guard let number = value.number, number.run == run, number.sequence < count else { return }
        let isLast = state.withLock { state in
            guard let begin = begin(of: Int(number.sequence), state.sendTimes), state.numbers.take(number.sequence)
            else { return false }
            let time = now - min(now, begin)
            if time <= line.timeout.nanoseconds { state.report.record(nanoseconds: time) }
            return state.numbers.count == count
        }
        if isLast { measurement.end(.success(())) }
    }

    /// The time from which a round trip is timed; `nil` if its message was not sent.
    private func begin(of number: Int, _ sendTimes: [UInt64]) -> UInt64? {
        guard pace != nil else { return pacer.due(number) }
        return sendTimes.indices.contains(number) ? sendTimes[number] : nil
    }
}
