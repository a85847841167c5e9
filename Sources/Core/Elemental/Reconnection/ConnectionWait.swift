import NIOCore

/// Someone who waits for a connection. It is answered once.
final class ConnectionWait: Sendable {
    /// Whether a cancelled wait closes also a connection that is there by then.
    let closesWhenCancelled: Bool
    private let promise: EventLoopPromise<Void>
    private let cancelled = Locked(false)

    init(_ eventLoop: any EventLoop, closesWhenCancelled: Bool) {
        promise = eventLoop.makePromise()
        self.closesWhenCancelled = closesWhenCancelled
    }

    var result: EventLoopFuture<Void> { promise.futureResult }

    /// Whether it was cancelled, perhaps before the event loop heard of it.
    var isCancelled: Bool { cancelled.withLock { $0 } }

    func cancel() { cancelled.withLock { $0 = true } }

    func answer(_ result: Result<Void, ElementalError>) {
        switch result {
        case .success: promise.succeed()
        case .failure(let error): promise.fail(error)
        }
    }
}
