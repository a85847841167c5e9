import Elemental
import Support

/// Round trips at a fixed rate through a bench service's echo: each begins when it is due and is timed from then.
final class PacedEchoTrips<Value: NumberedValue>: Sendable {
    private struct State: Sendable {
        var report: LatencyReport
        var numbers = SequenceCounter()
        var message: Value
    }

    private let line: EchoLine<Value>
    private let run = MessageNumber.newRun()
    private let count: Int
    private let pacer: Pacer
    private let isPacedByLoop: Bool
    private let state: Locked<State>
    private let measurement = Measurement<Void>()

    /// - Parameters:
    ///   - size: the bytes of each message's value.
    ///   - rate: round trips a second.
    ///   - isPacedByLoop: whether the connection's event loop sends, rather than a thread of its own.
    init(
        _ line: EchoLine<Value>, _ report: LatencyReport, count: Int, size: Int, rate: Double, isPacedByLoop: Bool
    ) {
        self.line = line
        self.isPacedByLoop = isPacedByLoop
        self.count = count
        pacer = Pacer(count: count, rate: rate)
        state = Locked(State(report: report, message: Value(MessageNumber(run: run), byteCount: size)))
    }

    func run() async throws(ElementalError) -> LatencyReport {
        let listening = try await line.listen(measurement) { [self] in take($0) }
        defer { listening.cancel() }
        if isPacedByLoop {
            pacer.start(on: line.device) { [self] number in send(number) }
        } else {
            pacer.start { [self] number in send(number) }
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
            return state.message
        }
        do throws(ElementalError) {
            try line.send(message)
        } catch {
            // What does not fit the queue is lost.
            if error.code != .queueFull { measurement.end(.failure(error)) }
        }
    }

    private func take(_ value: Value) {
        let now = MonotonicClock.nanoseconds
        guard let number = value.number, number.run == run, number.sequence < count else { return }
        let isLast = state.withLock { state in
            guard state.numbers.take(number.sequence) else { return false }
            let time = now - min(now, pacer.due(Int(number.sequence)))
            if time <= line.timeout.nanoseconds { state.report.record(nanoseconds: time) }
            return state.numbers.count == count
        }
        if isLast { measurement.end(.success(())) }
    }
}
