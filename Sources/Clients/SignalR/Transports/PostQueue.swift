import ClientTransport
import NIOCore
import NIOHTTP1

/// Sends bytes by POST, one request at a time, for server-sent events and long polling. Bytes sent while a request is
/// under way go together in the next one. On its event loop only.
final class PostQueue {
    /// The high watermark: with this many unsent bytes, senders wait.
    private static var highMark: Int { 256 * 1024 }

    private let maker: RequestMaker
    private let requester: HTTPRequester
    private let timeout: TimeAmount
    /// Called once, if something cannot be sent.
    var onFailure: (SignalRError) -> Void = { _ in }
    private let becameWritable: () -> Void
    private var queue = ByteBuffer()
    private var underway = 0
    private var isRunning = false
    private var isClosed = false
    private var drained: [EventLoopPromise<Void>] = []

    init(
        _ maker: RequestMaker, _ dialer: Dialer, timeout: TimeAmount, becameWritable: @escaping () -> Void
    ) {
        self.maker = maker
        self.timeout = timeout
        self.becameWritable = becameWritable
        requester = HTTPRequester(dialer)
    }

    var isWritable: Bool { queue.readableBytes + underway < Self.highMark }

    func send(_ bytes: ByteBuffer) {
        guard !isClosed else { return }
        var bytes = bytes
        queue.writeBuffer(&bytes)
        guard !isRunning else { return }
        isRunning = true
        // At the end of the event loop's turn, so that everything sent in this turn is included.
        maker.eventLoop.assumeIsolated().execute { [self] in post() }
    }

    /// Succeeds when everything was sent, or when nothing more can be sent.
    func drain() -> EventLoopFuture<Void> {
        guard isRunning else { return maker.eventLoop.makeSucceededVoidFuture() }
        let promise = maker.eventLoop.makePromise(of: Void.self)
        drained.append(promise)
        return promise.futureResult
    }

    func close() {
        isClosed = true
        requester.close()
        end()
    }

    private func end() {
        isRunning = false
        let drained = drained
        self.drained = []
        for promise in drained { promise.succeed() }
    }

    private func post() {
        guard !isClosed, queue.readableBytes > 0 else { return end() }
        let body = queue
        queue = ByteBuffer()
        underway = body.readableBytes
        let making = maker.eventLoop.makeFutureWithTask { [maker] in try await maker.request(.POST, body: body) }
        making.assumeIsolated().flatMap { [self] request in
            requester.perform(request, timeout: timeout)
        }.whenComplete { [self] result in
            let wasWritable = isWritable
            underway = 0
            guard !isClosed else { return end() }
            switch result {
            case .success(let reply) where reply.isSuccess:
                if !wasWritable, isWritable { becameWritable() }
                post()
            case .success(let reply):
                fail(reply.refusal(of: "what was sent"))
            case .failure(let error):
                fail(Dialer.explain(error, maker.address))
            }
        }
    }

    private func fail(_ error: SignalRError) {
        isClosed = true
        end()
        onFailure(error)
    }
}
