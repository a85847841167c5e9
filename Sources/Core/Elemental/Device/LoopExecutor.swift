import NIOCore

/// Runs tasks on an event loop.
///
/// A task that becomes ready while the loop delivers what was read runs at the end of that read batch, before what was
/// sent meanwhile is flushed: it costs no extra tick of the loop, and what it sends is flushed with the rest.
final class LoopExecutor: TaskExecutor {
    /// Confined to the event loop.
    private final class Batch {
        /// How many read batches are in progress.
        var depth = 0
        var jobs: [UnownedJob] = []
    }

    /// Jobs that run at the end of one read batch. Jobs beyond that wait for the loop's next tick, so that tasks that
    /// wake each other do not starve the loop's sockets.
    private static let maximumJobCount = 1024

    let eventLoop: any EventLoop
    private let batch: NIOLoopBound<Batch>

    /// Must be called on the event loop.
    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        batch = NIOLoopBound(Batch(), eventLoop: eventLoop)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if eventLoop.inEventLoop {
            let batch = batch.value
            if batch.depth > 0 { return batch.jobs.append(job) }
        }
        eventLoop.execute { self.run(job) }
    }

    /// A read batch begins. Must be called on the event loop.
    func beginBatch() { batch.value.depth += 1 }

    /// A read batch has ended: runs the tasks that it made ready. Must be called on the event loop.
    func endBatch() {
        let batch = batch.value
        if !batch.jobs.isEmpty { runJobs(batch) }
        batch.depth -= 1
        if batch.depth == 0, !batch.jobs.isEmpty {
            for job in batch.jobs { eventLoop.execute { self.run(job) } }
            batch.jobs.removeAll(keepingCapacity: true)
        }
    }

    private func runJobs(_ batch: Batch) {
        var position = 0
        while position < min(batch.jobs.count, Self.maximumJobCount) {
            run(batch.jobs[position])
            position += 1
        }
        batch.jobs.removeFirst(position)
    }

    private func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}
