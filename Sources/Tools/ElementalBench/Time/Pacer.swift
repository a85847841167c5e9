import Dispatch
import Elemental
import Support
import Synchronization

/// Calls an action at fixed times: from a thread of its own, from a task, or on a device's event loop.
///
/// For a precision of a few microseconds its thread sleeps until shortly before each time and then polls the clock: a timer
/// alone is late by the system's timer slack, which is as long as a round trip on one machine.
final class Pacer: Sendable {
    /// Nanoseconds.
    private static let watchTime: UInt64 = 150_000
    private static let startTime: UInt64 = 1_000_000

    private let count: Int
    /// Nanoseconds from one call to the next.
    private let period: UInt64
    private let watchTime: UInt64
    private let begin: Atomic<UInt64> = Atomic(0)
    /// The number of the next call on an event loop.
    private let next = Atomic(0)
    private let isCancelled = Atomic(false)
    /// Stops the event loop's ticks or the task.
    private let stop = Locked<(@Sendable () -> Void)?>(nil)
    private let queue = DispatchQueue(label: "elemental.pacer", qos: .userInteractive)

    /// - Parameters:
    ///   - count: how often the action is called.
    ///   - rate: how often in a second.
    ///   - isExact: whether to poll the clock, which occupies a CPU; otherwise calls are a little late.
    init(count: Int, rate: Double, isExact: Bool = true) {
        self.count = count
        period = UInt64(1e9 / rate)
        watchTime = isExact ? Self.watchTime : 0
    }

    /// From the start to the last call.
    var duration: Duration {
        .nanoseconds(Int64(Self.startTime)) + .nanoseconds(Int64(clamping: period)) * max(0, count - 1)
    }

    /// When a call is due, in nanoseconds of ``MonotonicClock``. Valid from the first call on.
    func due(_ number: Int) -> UInt64 { begin.load(ordering: .relaxed) + UInt64(number) * period }

    /// Starts to call the action.
    ///
    /// - Parameter action: gets the number of the call, from 0.
    func start(_ action: @escaping @Sendable (Int) -> Void) {
        begin.store(MonotonicClock.nanoseconds + Self.startTime, ordering: .relaxed)
        queue.async { [self] in
            for number in 0..<count {
                wait(until: due(number))
                if isCancelled.load(ordering: .relaxed) { return }
                action(number)
            }
        }
    }

    /// Starts to call the action on a device's event loop, as a control loop there would.
    func start(on device: ElementalDevice, _ action: @escaping @Sendable (Int) -> Void) {
        let registration = device.onTick(every: .nanoseconds(Int64(clamping: period))) { [self] due, _ in
            var number = next.load(ordering: .relaxed)
            if number == 0 { begin.store(due.uptimeNanoseconds, ordering: .relaxed) }
            // Makes up for the calls that the loop missed.
            let now = MonotonicClock.nanoseconds
            while number < count, self.due(number) <= now {
                action(number)
                number += 1
            }
            next.store(number, ordering: .relaxed)
            if number == count { cancel() }
        }
        stop.withLock { $0 = { registration.cancel() } }
    }

    /// Starts to call the action from a task, which sleeps until each call is due.
    func startTask(_ action: @escaping @Sendable (Int) -> Void) {
        begin.store(MonotonicClock.nanoseconds + Self.startTime, ordering: .relaxed)
        let first = ContinuousClock.now + .nanoseconds(Int64(Self.startTime))
        let task = Task { [self] in
            for number in 0..<count {
                let due = first + .nanoseconds(Int64(clamping: period)) * number
                guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
                action(number)
            }
        }
        stop.withLock { $0 = { task.cancel() } }
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        stop.withLock { $0.take() }?()
    }

    private func wait(until due: UInt64) {
        let now = MonotonicClock.nanoseconds
        if due > now + watchTime {
            let rest = due - now - watchTime
            var time = timespec(tv_sec: Int(rest / 1_000_000_000), tv_nsec: Int(rest % 1_000_000_000))
            nanosleep(&time, nil)
        }
        if watchTime > 0 { while MonotonicClock.nanoseconds < due {} }
    }
}
