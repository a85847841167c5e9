import Elemental
import Support
import Synchronization

/// Counts the numbered messages that come over one connection.
///
/// Messages arrive on the connection's event loop, one at a time. An expected one, nearly always the case, needs neither
/// the lock nor a reading of the clock: the expected number is atomic only so that a request for a report can read it.
final class Sink: Sendable {
    private struct State {
        var report: SinkReport
        var numbers = SequenceCounter()
        var transport = Transport.tcp
        /// Nanoseconds of ``MonotonicClock``; 0 before the first message.
        var first: UInt64 = 0
        /// The CPU time of the process when the run began, in seconds.
        var processorTime = 0.0
    }

    /// The arrival time is recorded only for messages whose number is a multiple of this.
    private static let markDistance: UInt64 = 64
    /// The expected number before the first message of a run; no message has it.
    private static let nothing = UInt64.max

    private let state: Locked<State>
    private let expected = Atomic(nothing)
    /// The bytes of each of the run's messages.
    private let byteCount = Atomic(0)
    /// The last recorded arrival time.
    private let last = Atomic<UInt64>(0)

    /// - Parameter run: the run that begins; 0 for none yet.
    init(run: UInt32 = 0) { state = Locked(State(report: SinkReport(run: run))) }

    /// Counts a message. Ignores messages of earlier runs and of another length.
    @inline(__always)
    func take<Value: NumberedValue>(_ value: Value, over transport: Transport) {
        if let number = value.number { take(number, value.wireByteCount, transport) }
    }

    /// Counts a message whose bytes are borrowed.
    @inline(__always)
    func take(_ bytes: RawSpan, over transport: Transport) {
        guard bytes.byteCount >= MessageNumber.byteCount else { return }
        let number = UInt64(littleEndian: bytes.unsafeLoadUnaligned(as: UInt64.self))
        take(MessageNumber(rawValue: number), bytes.byteCount, transport)
    }

    @inline(__always)
    private func take(_ number: MessageNumber, _ length: Int, _ transport: Transport) {
        guard number.rawValue == expected.load(ordering: .relaxed), length == byteCount.load(ordering: .relaxed)
        else { return takeOther(number, length, transport) }
        expected.store(number.next.rawValue, ordering: .relaxed)
        if number.rawValue % Self.markDistance == 0 { last.store(MonotonicClock.nanoseconds, ordering: .relaxed) }
    }

    /// Counts the first message of a run or a message that is out of order.
    private func takeOther(_ number: MessageNumber, _ length: Int, _ transport: Transport) {
        state.withLock { state in
            guard number.run == state.report.run else { return }
            let now = MonotonicClock.nanoseconds
            if state.first == 0 {
                state.first = now
                state.transport = transport
                byteCount.store(length, ordering: .relaxed)
            }
            guard length == byteCount.load(ordering: .relaxed) else { return }
            catchUp(&state)
            state.numbers.take(number.sequence)
            let next = MessageNumber(run: number.run, sequence: state.numbers.next)
            expected.store(next.rawValue, ordering: .relaxed)
            last.store(now, ordering: .relaxed)
        }
    }

    /// The report of the run; the first request for a run starts it.
    func report(of run: UInt32) -> SinkReport {
        state.withLock { state in
            let processorTime = ProcessorTime.seconds
            if run != state.report.run {
                state = State(report: SinkReport(run: run), processorTime: processorTime)
                expected.store(Self.nothing, ordering: .relaxed)
            }
            catchUp(&state)
            let count = Int(state.numbers.count)
            // Over TCP the request follows the last message. Over UDP the last arrival is less exact: up to
            // `markDistance` messages may have arrived after the last recorded time.
            if state.transport == .tcp, count > state.report.messages {
                last.store(MonotonicClock.nanoseconds, ordering: .relaxed)
            }
            state.report.messages = count
            state.report.bytes = count * byteCount.load(ordering: .relaxed)
            state.report.repeated = state.numbers.repeated
            state.report.disordered = state.numbers.disordered
            state.report.processorTime = processorTime - state.processorTime
            state.report.seconds =
                count == 0 ? 0 : MonotonicClock.seconds(from: state.first, to: last.load(ordering: .relaxed))
            return state.report
        }
    }

    /// How many messages of the run have arrived so far.
    var count: Int {
        state.withLock { state in
            catchUp(&state)
            return Int(state.numbers.count)
        }
    }

    /// Counts the messages that arrived in order.
    private func catchUp(_ state: inout State) {
        let number = MessageNumber(rawValue: expected.load(ordering: .relaxed))
        if number.rawValue != Self.nothing { state.numbers.advance(to: number.sequence) }
    }
}
