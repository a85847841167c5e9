/// Consecutive round trips as a state machine: what follows an answer or its absence. No socket, no clock.
///
/// The first ones are warm-up and do not count. Times are nanoseconds of ``MonotonicClock``.
struct TripMachine: Sendable {
    enum Action: Equatable {
        /// Send the message with this number, after reporting its time with ``begin(at:)``.
        case send(MessageNumber)
        case wait
        /// All round trips are over.
        case finish
        /// Nothing was ever answered: the other end does not get the messages.
        case giveUp
    }

    /// After this number of unanswered messages at the start, none will be answered.
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

    /// The current message is about to be sent.
    mutating func begin(at now: UInt64) { began = now }

    /// A message came back. One that is not expected, because it was given up or is not ours, is ignored.
    mutating func answer(_ number: MessageNumber, at now: UInt64) -> Action {
        guard number == current, number.sequence < end else { return .wait }
        hasAnswer = true
        if number.sequence >= warmUpCount { report.record(nanoseconds: now - began) }
        return goOn()
    }

    /// Time has passed.
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
