import Elemental
import Support

/// Consecutive round trips through a bench service's echo: each answer sends the next message.
///
/// An answer takes a lock that is uncontended except when the timer checks for losses, and allocates nothing.
final class EchoTrips<Value: NumberedValue>: Sendable {
    private struct State: Sendable {
        var machine: TripMachine
        /// The last message, whose storage is reused.
        var message: Value
    }

    private let line: EchoLine<Value>
    private let state: Locked<State>
    private let measurement = Measurement<LatencyReport>()

    /// - Parameters:
    ///   - size: the bytes of each message's value.
    ///   - timeout: how long a round trip may take before it counts as lost.
    init(_ line: EchoLine<Value>, _ report: LatencyReport, warmUpCount: Int, count: Int, size: Int, timeout: Duration) {
        self.line = line
        let machine = TripMachine(
            report, run: MessageNumber.newRun(), warmUpCount: warmUpCount, count: count,
            timeout: UInt64(clamping: timeout.nanoseconds))
        state = Locked(State(machine: machine, message: Value(machine.current, byteCount: size)))
    }

    func run(watching interval: Duration) async throws(ElementalError) -> LatencyReport {
        let stopListening = try await line.listen(measurement) { [self] in take($0) }
        defer { stopListening() }
        let watch = Task { [self] in
            while !Task.isCancelled {
                await Delay.wait(interval)
                goOn { $0.look(at: MonotonicClock.nanoseconds) }
            }
        }
        defer { watch.cancel() }
        goOn { .send($0.current) }
        return try await measurement.result()
    }

    private func take(_ value: Value) {
        let now = MonotonicClock.nanoseconds
        guard let number = value.number else { return }
        goOn { $0.answer(number, at: now) }
    }

    @inline(__always)
    private func goOn(_ next: (inout TripMachine) -> TripMachine.Action) {
        let (action, message) = state.withLock { state in
            let action = next(&state.machine)
            if case .send(let number) = action {
                state.message.number = number
                state.machine.begin(at: MonotonicClock.nanoseconds)
            }
            return (action, state.message)
        }
        switch action {
        case .send: line.send(message, measurement)
        case .wait: break
        case .finish: measurement.end(.success(state.withLock { $0.machine.report }))
        case .giveUp: measurement.end(.failure(line.silence))
        }
    }
}
