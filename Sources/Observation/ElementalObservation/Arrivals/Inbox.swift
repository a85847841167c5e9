import NIOCore
import NIOPosix
import Support

/// Collects changes from any thread until the main actor takes them, at most once per display frame.
///
/// The contents are a summary of which only the newest state counts: nothing in it grows with the number of changes. At
/// most one notification is pending, so that a main actor that was busy or suspended gets one when it continues.
final class Inbox<Contents: Sendable>: Sendable {
    private struct State {
        var contents: Contents
        var notify: (@Sendable () -> Void)?
        var isNotified = false
        var lastTaken: ContinuousClock.Instant?
    }

    private let state: Locked<State>
    /// The minimum time between two notifications.
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

    /// Reads or changes the contents without any effect on the next notification. `body` must not call this inbox.
    func look<Result>(_ body: (inout Contents) -> Result) -> Result { state.withLock { body(&$0.contents) } }

    /// Takes the contents after a notification. `body` must not call this inbox.
    func take<Result>(_ body: (inout Contents) -> Result) -> Result {
        state.withLock { state in
            state.isNotified = false
            state.lastTaken = clock.now()
            return body(&state.contents)
        }
    }
}

/// The clock of an inbox, which tests replace.
struct InboxClock: Sendable {
    let now: @Sendable () -> ContinuousClock.Instant
    let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    static let system = InboxClock(
        now: { .now },
        schedule: { delay, body in
            MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(delay), body)
        })
}
