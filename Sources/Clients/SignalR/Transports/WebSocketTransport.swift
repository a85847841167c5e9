import ClientTransport
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Support

/// Carries a hub connection over a WebSocket (RFC 6455). Used on its event loop only.
///
/// Hub messages have their own framing, so fragments are delivered as they arrive. Text is accepted in binary frames
/// too, since some servers send JSON that way.
final class WebSocketTransport: ChannelDuplexHandler, HubTransport {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private static var closeTimeout: TimeAmount { .seconds(2) }

    private let eventLoop: any EventLoop
    private let opcode: WebSocketOpcode
    private let events: TransportEvents
    private var context: ChannelHandlerContext?
    private var closed: EventLoopPromise<Void>?
    /// The data of the newest ping received while the peer was not reading. Only this one needs an answer (RFC 6455,
    /// 5.5.3).
    private var unansweredPing: ByteBuffer?
    private var isReadHeld = false
    private var isFlushing = false
    private var isInMessage = false
    private var isClosing = false
    private var isOver = false
    private var reason: SignalRError?

    init(eventLoop: any EventLoop, isBinary: Bool, events: TransportEvents) {
        self.eventLoop = eventLoop
        opcode = isBinary ? .binary : .text
        self.events = events
    }

    var isWritable: Bool { context?.channel.isWritable ?? true }
    var isAccepted: Bool { true }
    var isReading = true {
        didSet {
            guard isReading, isReadHeld else { return }
            isReadHeld = false
            context?.read()
        }
    }

    func send(_ bytes: ByteBuffer) {
        guard let context, !isClosing else { return }
        write(opcode, bytes, context)
        guard !isFlushing else { return }
        isFlushing = true
        eventLoop.assumeIsolated().execute { [self] in
            isFlushing = false
            self.context?.flush()
        }
    }

    func close() -> EventLoopFuture<Void> {
        guard !isOver, let context else { return eventLoop.makeSucceededVoidFuture() }
        let promise = closed ?? eventLoop.makePromise()
        closed = promise
        // If the connection is broken, writing the close frame ends it before this returns.
        if !isClosing {
            sendClose(.normalClosure, context)
            eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) { [weak self] in self?.abort() }
        }
        return promise.futureResult
    }

    func abort() {
        isClosing = true
        context?.close(promise: nil)
    }

    // MARK: - Receiving

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        end()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        guard !isOver else { return }
        // RFC 6455, 5.1: a client closes the connection if the server masks a frame; 5.2: no extension was negotiated.
        guard frame.maskKey == nil else { return violate("a masked frame", context) }
        guard frame.reservedBits.isEmpty else { return violate("reserved bits", context) }
        switch frame.opcode {
        case .text, .binary, .continuation:
            guard isInMessage == (frame.opcode == .continuation) else {
                return violate(isInMessage ? "a new message within another" : "a continuation without a start", context)
            }
            isInMessage = !frame.fin
            if frame.data.readableBytes > 0, !isClosing { events.received(frame.data) }
        case .ping: receivePing(frame.data, context)
        case .pong: break
        case .connectionClose: receiveClose(frame.data, context)
        default: violate("an unknown opcode", context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            if let ping = unansweredPing.take() { receivePing(ping, context) }
            events.becameWritable()
        }
        context.fireChannelWritabilityChanged()
    }

    func read(context: ChannelHandlerContext) {
        if isReading { context.read() } else { isReadHeld = true }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isClosing {
            reason = SignalRError(.connectionLost, "the server closed the connection without closing the WebSocket")
        }
        end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength:
            fail(
                SignalRError(.messageTooLarge, "the server sent a WebSocket frame over the limit"), .messageTooLarge,
                context)
        case is NIOWebSocketError:
            violate("\(error)", context)
        default:
            let what = "the WebSocket connection broke"
            let failure =
                if let error = error as? IOError {
                    SignalRError(.connectionLost, "\(what): \(NetworkFailure(error).reason)")
                } else {
                    SignalRError(.connectionLost, what, cause: TLSFailure(error) ?? error)
                }
            reason = reason ?? failure
            isClosing = true
            context.close(promise: nil)
        }
    }

    /// Answers a ping, or keeps only the newest one while the channel is not writable. A peer that sends pings without
    /// reading the answers could otherwise fill the memory.
    private func receivePing(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        if context.channel.isWritable {
            write(.pong, data, context, flush: true)
        } else {
            unansweredPing = data
        }
    }

    private func receiveClose(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
        var data = data
        let code = data.readWebSocketErrorCode() ?? .normalClosure
        var error: SignalRError?
        if code != .normalClosure, code != .goingAway {
            let text = data.readString(length: data.readableBytes).map { $0.isEmpty ? "" : ": \($0)" } ?? ""
            let number = UInt16(webSocketErrorCode: code)
            error = SignalRError(.connectionLost, "the server closed the WebSocket with code \(number)\(text)")
        }
        fail(error, code, context)
    }

    private func violate(_ what: String, _ context: ChannelHandlerContext) {
        fail(SignalRError(.protocolViolation, "the server's WebSocket sent \(what)"), .protocolError, context)
    }

    private func fail(_ error: SignalRError?, _ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
        if !isClosing {
            reason = error
            sendClose(code, context)
        }
        context.close(promise: nil)
        // Notifies the owner at once, even if the socket takes long to close.
        end()
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        isClosing = true
        closed?.succeed()
        events.closed(reason)
    }

    // MARK: - Sending

    private func sendClose(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
        isClosing = true
        // The peer's close frame must be read.
        isReading = true
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        write(.connectionClose, data, context, flush: true)
    }

    private func write(
        _ opcode: WebSocketOpcode, _ bytes: ByteBuffer, _ context: ChannelHandlerContext, flush: Bool = false
    ) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: bytes)
        context.write(Self.wrapOutboundOut(frame), promise: nil)
        if flush { context.flush() }
    }
}
