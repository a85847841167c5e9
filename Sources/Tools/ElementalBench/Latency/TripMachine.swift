/// Round trips one after the other: what comes next when an answer comes or does not come. It has no socket and no clock.
///
/// The first ones warm up and do not count. Times are nanoseconds of ``MonotonicClock``.
struct TripMachine: Sendable {
    enum Action: Equatable {
        /// Send the message of that number, after telling by ``begin(at:)`` when.
        case send(MessageNumber)
        case wait
        /// All round trips are over.
        case finish
        /// Nothing was ever answered: the other end does not get the messages.
        case giveUp
    }

    /// So many unanswered in the beginning say that none will be.
    private static let patience = 3

    private(set) var report: LatencyReport
    /// The message under way.
    private(set) var current: MessageNumber
    private let warmUpCount: UInt64
    private let end: UInt64
    private let timeout: UInt64
    private var began: UInt64 = 0
    private var hasAnswer = false

    /// - Parameters:
    ///   - report: takes in the round trips that count.
    ///   - timeout: after so many nanoseconds a round trip counts as lost.
    init(_ report: LatencyReport, run: UInt32, warmUpCount: Int, count: Int, timeout: UInt64) {
        self.report = report
        self.warmUpCount = UInt64(warmUpCount)
        self.timeout = timeout
        end = UInt64(warmUpCount + count)
        current = MessageNumber(run: run)
    }

    /// The current message is about to be sent.
    mutating func begin(at now: UInt64) { began = now }

    /// A message came back. One that is not awaited, for it was given up or is not ours, means nothing.
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
