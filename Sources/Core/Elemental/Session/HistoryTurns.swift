import DequeModule
import ElementalHistory
import NIOCore

/// Decides whose request for values of the past is answered next: the clients of a service take turns.
///
/// A turn is one answer, which is written at once, as far as the socket accepts it. So a client that reads nothing holds no place:
/// it takes no further turn until it has read. After four answers the loop serves its sockets: SwiftNIO does not do that
/// before it has run all tasks that are due, and those that they have added.
final class HistoryTurns {
    static let answerCount = 4
    static let pause = TimeAmount.microseconds(100)

    let histories: ServiceHistories
    private let eventLoop: any EventLoop
    /// Each session is in it once at most.
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
