/// Consecutive round trips as a state machine that decides what follows an answer or a timeout. It uses no socket and
/// no clock.
///
/// The first ones are warm-up and do not count. Times are nanoseconds of ``MonotonicClock``.
struct TripMachine: Sendable {
    enum Action: Equatable {
        /// Send the message with this number, after reporting its time with ``begin(at:)``.
        case send(MessageNumber)
        case wait
        /// All round trips are over.
        case finish
        /// No message was ever answered: the peer does not receive them.
        case giveUp
    }

    /// The number of unanswered messages at the start after which the machine gives up.
    private static let patience = 3

    private(set) var report: LatencyReport
    private(set) var current: MessageNumber
    private let warmUpCount: UInt64
    private let end: UInt64
    private let timeout: UInt64
    private var began: UInt64 = 0
    private var hasAnswer = false

    /// - Parameters:
    ///   - report: collects the round trips that count.
    ///   - timeout: the nanoseconds after which a round trip counts as lost.
    init(_ report: LatencyReport, run: UInt32, warmUpCount: Int, count: Int, timeout: UInt64) {
        self.report = report
        self.warmUpCount = UInt64(warmUpCount)
        self.timeout = timeout
        end = UInt64(warmUpCount + count)
        current = MessageNumber(run: run)
    }

    /// Records that the current message is about to be sent.
    mutating func begin(at now: UInt64) { began = now }

    /// Handles an answer. An unexpected one is ignored: its message counts as lost already, or is not of this run.
    mutating func answer(_ number: MessageNumber, at now: UInt64) -> Action {
        guard number == current, number.sequence < end else { return .wait }
        hasAnswer = true
        if number.sequence >= warmUpCount { report.record(nanoseconds: now - began) }
        return goOn()
    }

    /// Checks whether the current message has timed out.
    mutating func look(at now: UInt64) -> Action {
        guard current.sequence < end, now >= began + timeout else { return .wait }
        if !hasAnswer, current.sequence + 1 >= Self.patience { return .giveUp }
        if current.sequence >= warmUpCount { report.recordLosses(1) }
        return goOn()
    }

    private mutating func goOn() -> Action {
        current = current.next
        return current.sequence < end ? .send(current) : .finish
    }
}
