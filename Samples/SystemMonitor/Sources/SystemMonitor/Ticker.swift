import Synchronization

/// Ticks at an interval that can be changed at any time, with effect at once.
final class Ticker: Sendable {
    /// The ticks. One that comes while the one before is still being dealt with waits; further ones are left out.
    let ticks: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let task = Mutex<Task<Void, Never>?>(nil)

    init() {
        (ticks, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit { task.withLock { $0?.cancel() } }

    /// Ticks now and then at that interval.
    func start(every interval: Duration) {
        let new = Task { [continuation] in
            var next = SuspendingClock.now
            while !Task.isCancelled {
                continuation.yield()
                // Counted from the tick before, so that small delays do not add up; after a long one, from now.
                next = max(next + interval, .now)
                try? await Task.sleep(until: next, tolerance: .zero, clock: .suspending)
            }
        }
        task.withLock { task in
            task?.cancel()
            task = new
        }
    }

    /// Ticks no more and ends the stream.
    func stop() {
        task.withLock { $0?.cancel() }
        continuation.finish()
    }
}
