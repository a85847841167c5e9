import NIOCore
import NIOPosix
import Support

/// A serial executor on which histories are written; its work may block. Tests simulate it.
package protocol HistoryThread: Sendable {
    func submit(_ work: @escaping @Sendable () -> Void)
    func submit(in delay: Duration, _ work: @escaping @Sendable () -> Void)
    /// Ends the executor. No work may be submitted afterwards.
    func end()
}

/// A dedicated thread.
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
