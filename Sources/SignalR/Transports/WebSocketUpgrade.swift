import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Turns a fresh connection into a WebSocket, or says why the server does not.
final class WebSocketUpgrade: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let address: HubAddress
    private let opened: EventLoopPromise<any Channel>
    private var isDecided = false

    private init(_ address: HubAddress, _ opened: EventLoopPromise<any Channel>) {
        self.address = address
        self.opened = opened
    }

    /// Opens a WebSocket at an address.
    ///
    /// - Parameters:
    ///   - transport: takes the frames.
    ///   - maximumFrame: bytes of the largest frame.
    static func open(
        _ dialer: Dialer, _ address: HubAddress, headers: HTTPHeaders, transport: WebSocketTransport, maximumFrame: Int
    ) -> EventLoopFuture<any Channel> {
        let opened = dialer.eventLoop.makePromise(of: (any Channel).self)
        let transport = NIOLoopBound(transport, eventLoop: dialer.eventLoop)
        let waiting = NIOLoopBound(WebSocketUpgrade(address, opened), eventLoop: dialer.eventLoop)
        let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: maximumFrame, automaticErrorHandling: false) {
            channel, _ in
            channel.eventLoop.makeCompletedFuture {
                channel.pipeline.syncOperations.removeHandler(waiting.value, promise: nil)
                try channel.pipeline.syncOperations.addHandler(transport.value)
                opened.succeed(channel)
            }
        }
        let connecting = dialer.connect(to: address) { channel in
            let upgrade = NIOHTTPClientUpgradeSendableConfiguration(upgraders: [upgrader], completionHandler: { _ in })
            try channel.pipeline.syncOperations.addHTTPClientHandlers(
                leftOverBytesStrategy: .forwardBytes, withClientUpgrade: upgrade)
            try channel.pipeline.syncOperations.addHandler(waiting.value)
        }
        connecting.assumeIsolated().whenComplete { result in
            switch result {
            case .failure(let error):
                opened.fail(Dialer.explain(error, address))
            case .success(let channel):
                let deadline = dialer.eventLoop.scheduleTask(in: dialer.timeout) {
                    let seconds = dialer.timeout.nanoseconds / 1_000_000_000
                    opened.fail(SignalRError(.timedOut, "the server did not open the WebSocket within \(seconds) s"))
                    channel.close(promise: nil)
                }
                opened.futureResult.whenComplete { _ in deadline.cancel() }
                let request = HTTPRequest(method: .GET, address: address, headers: headers)
                channel.write(HTTPClientRequestPart.head(request.head), promise: nil)
                channel.writeAndFlush(HTTPClientRequestPart.end(nil)).whenFailure { error in
                    opened.fail(Dialer.explain(error, address))
                    channel.close(promise: nil)
                }
            }
        }
        return opened.futureResult
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What comes here is an answer that is no upgrade.
        guard case .head(let head) = Self.unwrapInboundIn(data) else { return }
        let reply = HTTPReply(status: head.status, headers: head.headers, body: ByteBuffer())
        fail(reply.refusal(of: "the request for a WebSocket"), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(SignalRError(.connectionLost, "the server closed the connection instead of opening a WebSocket"), context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOHTTPClientUpgradeError {
            let what = "the server's answer to the request for a WebSocket is not one of RFC 6455"
            return fail(SignalRError(.protocolViolation, what, cause: error), context)
        }
        fail(Dialer.explain(error, address), context)
    }

    private func fail(_ error: SignalRError, _ context: ChannelHandlerContext) {
        guard !isDecided else { return }
        isDecided = true
        opened.fail(error)
        context.close(promise: nil)
    }
}
