import Synchronization

/// Ticks at an interval that can be changed at any time, with effect at once.
final class Ticker: Sendable {
    /// The ticks. One that is due while the previous one is still being handled waits; further ones are dropped.
    let ticks: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let task = Mutex<Task<Void, Never>?>(nil)

    init() {
        (ticks, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit { task.withLock { $0?.cancel() } }

    /// Ticks now and then at the given interval.
    func start(every interval: Duration) {
        let new = Task { [continuation] in
            var next = SuspendingClock.now
            while !Task.isCancelled {
                continuation.yield()
                // Scheduled from the previous tick, so that small delays do not add up; after a long one, from now.
                next = max(next + interval, .now)
                try? await Task.sleep(until: next, tolerance: .zero, clock: .suspending)
            }
        }
        task.withLock { task in
            task?.cancel()
            task = new
        }
    }

    /// Stops ticking and ends the stream.
    func stop() {
        task.withLock { $0?.cancel() }
        continuation.finish()
    }
}
