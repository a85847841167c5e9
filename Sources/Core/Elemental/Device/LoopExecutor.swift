import NIOCore

/// Runs tasks on an event loop.
final class LoopExecutor: TaskExecutor {
    let eventLoop: any EventLoop

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
