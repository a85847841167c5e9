import NIOCore

/// One request and what becomes of it. On its event loop only.
final class HTTPExchange {
    let request: HTTPRequest
    let promise: EventLoopPromise<HTTPReply>
    /// Takes the body of a successful reply as it comes; otherwise it is gathered.
    let onBody: ((ByteBuffer) -> Void)?
    /// Called with a successful reply's head; then the deadline no longer counts.
    let onHead: ((HTTPReply) -> Void)?
    var deadline: Scheduled<Void>?
    var reply: HTTPReply?

    init(
        _ request: HTTPRequest, _ promise: EventLoopPromise<HTTPReply>, onHead: ((HTTPReply) -> Void)?,
        onBody: ((ByteBuffer) -> Void)?
    ) {
        self.request = request
        self.promise = promise
        self.onHead = onHead
        self.onBody = onBody
    }

    func succeed(_ reply: HTTPReply) {
        deadline?.cancel()
        promise.succeed(reply)
    }

    func fail(_ error: any Error) {
        deadline?.cancel()
        promise.fail(Dialer.explain(error, request.address))
    }
}
