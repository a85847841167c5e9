import NIOCore
import NIOHTTP1

/// Speaks HTTP on one connection, one exchange at a time.
final class HTTPHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The maximum size of a collected body, in bytes. The body is the answer to a negotiation or is ignored.
    static var maximumBody: Int { 1 << 20 }

    private var context: ChannelHandlerContext?
    private var exchange: HTTPExchange?
    private var isReusable = true
    private var isReadHeld = false
    private(set) var idleSince = NIODeadline.now()

    var isIdle: Bool { exchange == nil && isReusable && context?.channel.isActive == true }

    var isReading = true {
        didSet {
            guard isReading, isReadHeld else { return }
            isReadHeld = false
            context?.read()
        }
    }

    func read(context: ChannelHandlerContext) {
        if isReading { context.read() } else { isReadHeld = true }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func begin(_ exchange: HTTPExchange) {
        guard let context, isIdle else {
            return exchange.fail(SignalRError(.connectionLost, "the HTTP connection was closed"))
        }
        self.exchange = exchange
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenFailure { [weak self] in self?.end($0) }
        context.write(Self.wrapOutboundOut(.head(exchange.request.head)), promise: written)
        if let body = exchange.request.body, body.readableBytes > 0 {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange else { return }
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            let reply = HTTPReply(status: head.status)
            isReusable = head.isKeepAlive
            exchange.reply = reply
            if reply.isSuccess, let onHead = exchange.onHead {
                exchange.deadline?.cancel()
                onHead(reply)
            }
        case .body(var bytes):
            guard let reply = exchange.reply else { return }
            if reply.isSuccess, let onBody = exchange.onBody {
                onBody(bytes)
            } else if reply.body.readableBytes + bytes.readableBytes <= Self.maximumBody {
                exchange.reply?.body.writeBuffer(&bytes)
            } else {
                end(SignalRError(.messageTooLarge, "the server's answer is larger than \(Self.maximumBody) bytes"))
            }
        case .end:
            guard let reply = exchange.reply else { return }
            self.exchange = nil
            idleSince = .now()
            if !isReusable { context.close(promise: nil) }
            exchange.deadline?.cancel()
            exchange.promise.succeed(reply)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(SignalRError(.connectionLost, "the server closed the connection before it had answered"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(error) }

    func end(_ error: any Error) {
        let exchange = exchange
        self.exchange = nil
        isReusable = false
        context?.close(promise: nil)
        exchange?.fail(error)
    }
}
