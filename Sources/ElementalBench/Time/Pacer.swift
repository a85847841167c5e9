import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Calls an action at fixed times, from a thread of its own that keeps them to a few microseconds.
///
/// It sleeps until shortly before each time and then watches the clock: a timer alone is late by the slack that the
/// system allows itself, which is as long as a round trip on one machine.
final class Pacer: Sendable {
    private static let watching: Duration = .microseconds(150)

    private let count: Int
    private let interval: Duration
    private let action: @Sendable (ContinuousClock.Instant) -> Void
    private let isCancelled = Atomic(false)
    private let queue = DispatchQueue(label: "elemental.pacer", qos: .userInteractive)

    /// - Parameter action: gets the time at which it was due.
    init(count: Int, interval: Duration, action: @escaping @Sendable (ContinuousClock.Instant) -> Void) {
        self.count = count
        self.interval = interval
        self.action = action
    }

    func start() {
        queue.async { [self] in
            let start = ContinuousClock.now + .milliseconds(1)
            for number in 0..<count {
                let due = start + interval * number
                Self.wait(until: due)
                if isCancelled.load(ordering: .relaxed) { return }
                action(due)
            }
        }
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    private static func wait(until due: ContinuousClock.Instant) {
        let rest = due - .now - watching
        if rest > .zero {
            let (seconds, attoseconds) = rest.components
            var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
            nanosleep(&time, nil)
        }
        while ContinuousClock.now < due {}
    }
}
