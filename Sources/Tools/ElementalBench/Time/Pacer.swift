import Dispatch
import Elemental
import NIOCore
import Support
import Synchronization

/// Calls an action at fixed times, from a thread of its own, or on an event loop.
///
/// For a precision of a few microseconds it sleeps until shortly before each time and then polls the clock, also on an
/// event loop, which does nothing else meanwhile: a timer alone is late by the system's timer slack, which is as long as
/// a round trip on one machine.
final class Pacer: Sendable {
    /// Nanoseconds.
    private static let watchTime: UInt64 = 150_000
    private static let startTime: UInt64 = 1_000_000

    private let count: Int
    private let rate: Double
    private let watchTime: UInt64
    private let begin: Atomic<UInt64> = Atomic(0)
    private let isCancelled = Atomic(false)
    private let queue = DispatchQueue(label: "elemental.pacer", qos: .userInteractive)

    /// - Parameters:
    ///   - count: how often the action is called.
    ///   - rate: how often in a second.
    ///   - isExact: whether to poll the clock, which occupies a CPU; otherwise calls are a little late.
    init(count: Int, rate: Double, isExact: Bool = true) {
        self.count = count
        self.rate = rate
        watchTime = isExact ? Self.watchTime : 0
    }

    /// From the start to the last call.
    var duration: Duration { .nanoseconds(Int64(Self.startTime)) + .seconds(Double(max(0, count - 1)) / rate) }

    /// When a call is due, in nanoseconds of ``MonotonicClock``. The pacer was started.
    func due(_ number: Int) -> UInt64 {
        begin.load(ordering: .relaxed) + UInt64(Double(number) * 1e9 / rate)
    }

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

    /// Starts to call the action on a device's event loop, as a control loop does that runs there.
    func start(on device: ElementalDevice, _ action: @escaping @Sendable (Int) -> Void) {
        begin.store(MonotonicClock.nanoseconds + Self.startTime, ordering: .relaxed)
        schedule(0, on: device.eventLoop, action)
    }

    private func schedule(_ number: Int, on eventLoop: any EventLoop, _ action: @escaping @Sendable (Int) -> Void) {
        guard number < count else { return }
        // Answers come between the times.
        let watchTime = min(watchTime, UInt64(0.25e9 / rate))
        let due = due(number)
        eventLoop.scheduleTask(deadline: .uptimeNanoseconds(due - watchTime)) { [self] in
            if isCancelled.load(ordering: .relaxed) { return }
            while MonotonicClock.nanoseconds < due {}
            action(number)
            schedule(number + 1, on: eventLoop, action)
        }
    }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

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
