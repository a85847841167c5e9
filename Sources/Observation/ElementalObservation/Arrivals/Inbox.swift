import NIOCore
import NIOPosix
import Support

/// What threads put down until the main actor takes it, at most once a display frame.
///
/// The contents are a summary, of which only the newest counts: nothing in it grows with the number of changes. One
/// notification at most is under way, so that a main actor that is busy or suspended finds one when it goes on.
final class Inbox<Contents: Sendable>: Sendable {
    private struct State {
        var contents: Contents
        var notify: (@Sendable () -> Void)?
        var isNotified = false
        var lastTaken: ContinuousClock.Instant?
    }

    private let state: Locked<State>
    /// The shortest time between two notifications.
    private let frame: Duration
    private let clock: InboxClock

    init(_ contents: Contents, frame: Duration, clock: InboxClock = .system) {
        state = Locked(State(contents: contents))
        self.frame = max(frame, .zero)
        self.clock = clock
    }

    /// Calls `notify` on any thread when there is something to take.
    func onArrival(_ notify: @escaping @Sendable () -> Void) { state.withLock { $0.notify = notify } }

    /// Changes the contents, on any thread.
    func put(_ change: (inout Contents) -> Void) {
        let delay: Duration? = state.withLock { state in
            change(&state.contents)
            guard !state.isNotified else { return nil }
            state.isNotified = true
            guard let last = state.lastTaken else { return .zero }
            return max(.zero, last + frame - clock.now())
        }
        guard let delay else { return }
        if delay == .zero { return notify() }
        clock.schedule(delay) { self.notify() }
    }

    private func notify() { state.withLock { $0.notify }?() }

    /// Works on the contents, without any effect on when the main actor is notified next. `body` must not call this inbox.
    func look<Result>(_ body: (inout Contents) -> Result) -> Result { state.withLock { body(&$0.contents) } }

    /// Takes what there is, when the main actor was notified. `body` must not call this inbox.
    func take<Result>(_ body: (inout Contents) -> Result) -> Result {
        state.withLock { state in
            state.isNotified = false
            state.lastTaken = clock.now()
            return body(&state.contents)
        }
    }
}

/// The time of an inbox. Tests move one of their own.
struct InboxClock: Sendable {
    let now: @Sendable () -> ContinuousClock.Instant
    let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    static let system = InboxClock(
        now: { .now },
        schedule: { delay, body in
            MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(delay), body)
        })
}
