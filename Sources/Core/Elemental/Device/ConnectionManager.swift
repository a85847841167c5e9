import NIOCore
import Synchronization

/// Establishes the connections of a client's device. Called by the device on its event loop.
protocol ConnectionManager: AnyObject {
    /// Does nothing if the device is connected.
    func connect(_ device: ElementalDevice, _ waiter: ConnectionWaiter)
    func cancel(_ waiter: ConnectionWaiter)
    /// Ends what is active: an established connection gracefully, everything else immediately.
    func disconnect()
}

/// A task that waits for a connection. It is answered exactly once.
final class ConnectionWaiter: Sendable, Equatable {
    /// Whether cancelling the wait also closes a connection that has been established in the meantime.
    let closesWhenCancelled: Bool
    private let promise: EventLoopPromise<Void>
    private let cancelled = Atomic(false)

    init(_ eventLoop: any EventLoop, closesWhenCancelled: Bool) {
        promise = eventLoop.makePromise()
        self.closesWhenCancelled = closesWhenCancelled
    }

    var result: EventLoopFuture<Void> { promise.futureResult }

    /// The event loop may not have been notified yet.
    var isCancelled: Bool { cancelled.load(ordering: .sequentiallyConsistent) }

    func cancel() { cancelled.store(true, ordering: .sequentiallyConsistent) }

    func answer(_ error: ElementalError?) {
        if let error { promise.fail(error) } else { promise.succeed() }
    }

    static func == (a: ConnectionWaiter, b: ConnectionWaiter) -> Bool { a === b }
}
