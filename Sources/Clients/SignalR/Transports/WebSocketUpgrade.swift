import ClientTransport
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Upgrades a new connection to a WebSocket, or reports why the server refused. A host may have several addresses: each
/// connection attempt has its own upgrade, and the one of the first established connection is started.
final class WebSocketUpgrade: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let address: HubAddress
    private let transport: WebSocketTransport
    /// Set from the start until the upgrade succeeds or fails.
    private var opened: (promise: EventLoopPromise<any Channel>, channel: any Channel)?

    private init(_ address: HubAddress, _ transport: WebSocketTransport) {
        self.address = address
        self.transport = transport
    }

    static func open(
        _ dialer: Dialer, _ address: HubAddress, headers: HTTPHeaders, transport: WebSocketTransport, maximumFrame: Int
    ) -> EventLoopFuture<any Channel> {
        let opened = dialer.eventLoop.makePromise(of: (any Channel).self)
        let transport = NIOLoopBound(transport, eventLoop: dialer.eventLoop)
        let connecting = dialer.connect(to: address.endpoint) { channel in
            let upgrade = NIOLoopBound(WebSocketUpgrade(address, transport.value), eventLoop: channel.eventLoop)
            let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: maximumFrame, automaticErrorHandling: false) {
                channel, _ in
                channel.eventLoop.makeCompletedFuture { try upgrade.value.finish(channel) }
            }
            let configuration = NIOHTTPClientUpgradeSendableConfiguration(
                upgraders: [upgrader], completionHandler: { _ in })
            try channel.pipeline.syncOperations.addHTTPClientHandlers(
                leftOverBytesStrategy: .forwardBytes, withClientUpgrade: configuration)
            try channel.pipeline.syncOperations.addHandler(upgrade.value)
        }
        connecting.assumeIsolated().whenComplete { result in
            do {
                let channel = try result.get()
                let upgrade = try channel.pipeline.syncOperations.handler(type: WebSocketUpgrade.self)
                upgrade.begin(channel, opened, headers, within: dialer.timeout)
            } catch {
                opened.fail(Dialer.explain(error, address))
            }
        }
        return opened.futureResult
    }

    private func begin(
        _ channel: any Channel, _ opened: EventLoopPromise<any Channel>, _ headers: HTTPHeaders,
        within timeout: TimeAmount
    ) {
        self.opened = (opened, channel)
        guard channel.isActive else { return fail(Self.closedInstead) }
        let deadline = channel.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
            let seconds = timeout.nanoseconds / 1_000_000_000
            fail(SignalRError(.timedOut, "the server did not open the WebSocket within \(seconds) s"))
        }
        opened.futureResult.whenComplete { _ in deadline.cancel() }
        let request = HTTPRequest(method: .GET, address: address, headers: headers)
        channel.write(HTTPClientRequestPart.head(request.head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil)).assumeIsolated().whenFailure { [self] error in
            fail(Dialer.explain(error, address))
        }
    }

    private func finish(_ channel: any Channel) throws {
        channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        try channel.pipeline.syncOperations.addHandler(transport)
        opened.take()?.promise.succeed(channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // An answer that arrives here is not an upgrade.
        guard case .head(let head) = Self.unwrapInboundIn(data) else { return }
        fail(HTTPReply(status: head.status).refusal(of: "the WebSocket request"))
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(Self.closedInstead)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOHTTPClientUpgradeError {
            let what = "the server's answer to the WebSocket request does not follow RFC 6455"
            return fail(SignalRError(.protocolViolation, what, cause: error))
        }
        fail(Dialer.explain(error, address))
    }

    private static var closedInstead: SignalRError {
        SignalRError(.connectionLost, "the server closed the connection instead of opening a WebSocket")
    }

    private func fail(_ error: SignalRError) {
        // It was never started, or has succeeded or failed already.
        guard let (promise, channel) = opened.take() else { return }
        promise.fail(error)
        channel.close(promise: nil)
    }
}
