import DequeModule
import ElementalHistory
import NIOCore

/// Schedules the answers to history requests: the clients of a service take turns.
///
/// A turn is one answer, written as far as the socket accepts it. A client that does not read gets no further turn until it has
/// read. After four answers the loop serves its sockets again: that needs a timer, because SwiftNIO first runs all tasks that
/// are due, including those that they add.
final class HistoryTurns {
    static let answerCount = 4
    static let pause = TimeAmount.microseconds(100)

    let histories: ServiceHistories
    private let eventLoop: any EventLoop
    /// Contains a session at most once.
    private var line: Deque<Session> = []
    private var isScheduled = false
    private var next = NIODeadline.uptimeNanoseconds(0)

    init(_ histories: ServiceHistories, on eventLoop: any EventLoop) {
        (self.histories, self.eventLoop) = (histories, eventLoop)
    }

    func add(_ session: Session) {
        line.append(session)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !line.isEmpty else { return }
        isScheduled = true
        eventLoop.assumeIsolated().scheduleTask(deadline: next) { [self] in
            for _ in 0..<min(line.count, Self.answerCount) {
                let session = line.removeFirst()
                session.batch { session.answerHistoryRequest() }
                session.takeHistoryTurn()
            }
            next = eventLoop.now + Self.pause
            isScheduled = false
            schedule()
        }
    }
}
