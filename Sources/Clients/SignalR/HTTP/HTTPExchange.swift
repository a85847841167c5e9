import ClientTransport
import NIOCore

/// One request and its reply. On its event loop only.
final class HTTPExchange {
    let request: HTTPRequest
    let promise: EventLoopPromise<HTTPReply>
    /// Receives the body of a successful reply as it arrives; without it the body is collected.
    let onBody: ((ByteBuffer) -> Void)?
    /// Called with the head of a successful reply, after which the deadline no longer applies.
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
