import NIOCore
import NIOPosix
import Support

/// Where histories are written: one piece of work after the other, which may block. Tests simulate it.
package protocol HistoryThread: Sendable {
    func submit(_ work: @escaping @Sendable () -> Void)
    func submit(in delay: Duration, _ work: @escaping @Sendable () -> Void)
    /// No work follows.
    func end()
}

/// A thread of its own.
struct WritingThread: HistoryThread {
    private let pool = NIOThreadPool(numberOfThreads: 1)
    private let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()

    init() { pool.start() }

    func submit(_ work: @escaping @Sendable () -> Void) { pool.submit { _ in work() } }

    func submit(in delay: Duration, _ work: @escaping @Sendable () -> Void) {
        loop.scheduleTask(in: TimeAmount(delay)) { submit(work) }
    }

    func end() { pool.shutdownGracefully { _ in } }
}
