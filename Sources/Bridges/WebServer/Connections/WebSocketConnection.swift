package import NIOCore
import NIOWebSocket
package import Support

/// A browser's WebSocket. Used only on the server's event loop.
package final class WebSocketConnection {
    private enum State {
        case open
        /// A close frame has been sent; waits for the browser's.
        case closing
        case closed
    }

    /// Unique among the connections of the server.
    package let id: UInt64
    package let isEncrypted: Bool
    /// Called with each complete text message, valid UTF-8 of at most ``WebServerLimits/maximumMessageBytes``.
    package var onText: ((ByteBuffer) -> Void)?
    /// Called when the connection has room again after it had none.
    package var onWritable: (() -> Void)?
    /// Called once, when the connection has ended or is about to: nothing is received or sent afterwards.
    package var onClose: (() -> Void)?

    package let host: IPAddress
    package var eventLoop: any EventLoop { channel.eventLoop }
    private let channel: any Channel
    private let core: ServerCore
    private var assembler: MessageAssembler
    private var state = State.open
    private var lastArrival: NIODeadline
    /// Bytes written since the last flush. The channel counts them as buffered, unless a TLS handler keeps them.
    private var unflushed = 0
    /// The data of the newest ping received while there was no room. Only this one needs an answer (RFC 6455, 5.5.3).
    private var unansweredPing: ByteBuffer?
    private var pinging: Scheduled<Void>?
    private var silence: Scheduled<Void>?
    private var deadline: Scheduled<Void>?

    init(id: UInt64, channel: any Channel, host: IPAddress, core: ServerCore) {
        self.id = id
        self.channel = channel
        self.host = host
        self.core = core
        isEncrypted = core.tls != nil
        lastArrival = channel.eventLoop.now
        assembler = MessageAssembler(core.limits, at: lastArrival)
    }

    /// Ignores binary messages, which close the connection otherwise.
    package func ignoreBinary() { assembler.ignoresBinary = true }

    /// Whether there is room to send more. A caller that ignores this fills the connection's maximum backlog, which
    /// ends the connection.
    package var isWritable: Bool { state == .open && channel.isWritable && !isTLSFull }

    /// Whether the TLS handler holds so much for the next flush that there is no more room. The channel does not count
    /// it.
    private var isTLSFull: Bool { isEncrypted && unflushed >= core.limits.outboundHighWatermark }

    /// Sends a frame as it is, together with others of the same turn of the event loop. Does nothing once the connection
    /// closes.
    package func send(_ frame: EncodedFrame) {
        guard state == .open else { return }
        write(frame)
    }

    /// Closes the connection in an orderly way, after the frames already sent. The reason, for the page, is cut at 123
    /// bytes.
    package func close(code: UInt16, reason: String) { close(code, reason, isAnswer: false) }

    /// - Parameter isAnswer: whether the browser has sent its close frame, so that nothing more will come.
    private func close(_ code: UInt16, _ reason: String, isAnswer: Bool) {
        guard state == .open else { return }
        let sent = isAnswer ? channel.eventLoop.makePromise(of: Void.self) : nil
        write(.close(code, reason), promise: sent)
        guard state == .open else { return }
        state = .closing
        stopTimers()
        deadline = schedule(in: core.limits.closeTimeout) { $0.abort() }
        sent?.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.abort() }
        flush()
        notifyClosed()
    }

    /// Checks a token that the browser sent. If the server has none, every token is accepted. Wrong ones count against
    /// the host; after too many, none is checked for a while.
    package func verdict(on token: String?) -> TokenVerdict { core.check(token, from: host) }

    // MARK: - Life

    /// Called when the handlers are in place.
    func start() {
        ping()
        watchSilence(for: core.limits.maximumSilence)
        writabilityChanged()
    }

    private func ping() {
        pinging = schedule(in: core.limits.pingInterval) { connection in
            // Without room it would only wait in the queue.
            if connection.isWritable { connection.write(EncodedFrame(.ping, ByteBuffer())) }
            if connection.state == .open { connection.ping() }
        }
    }

    private func watchSilence(for duration: Duration) {
        silence = schedule(in: duration) { connection in
            let silent = Duration.nanoseconds((connection.channel.eventLoop.now - connection.lastArrival).nanoseconds)
            let left = connection.core.limits.maximumSilence - silent
            if left > .zero { connection.watchSilence(for: left) } else { connection.abort() }
        }
    }

    private func schedule(in time: Duration, _ body: @escaping (WebSocketConnection) -> Void) -> Scheduled<Void> {
        channel.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { [weak self] in
            if let self { body(self) }
        }
    }

    private func stopTimers() {
        pinging?.cancel()
        silence?.cancel()
        deadline?.cancel()
        (pinging, silence, deadline) = (nil, nil, nil)
    }

    func abort() {
        guard state != .closed else { return }
        end()
        channel.close(promise: nil)
    }

    /// Called when the channel has closed, or is about to close.
    func end() {
        guard state != .closed else { return }
        let wasOpen = state == .open
        state = .closed
        stopTimers()
        if wasOpen { notifyClosed() }
    }

    private func notifyClosed() {
        let onClose = onClose.take()
        // The closures may retain this connection.
        (onText, onWritable, unansweredPing) = (nil, nil, nil)
        onClose?()
    }

    // MARK: - Receiving

    func receive(_ frame: WebSocketFrame) {
        guard state != .closed else { return }
        lastArrival = channel.eventLoop.now
        if state == .closing {
            if frame.opcode == .connectionClose { abort() }
            return
        }
        switch assembler.receive(frame, at: lastArrival) {
        case .nothing: break
        case .text(let bytes): onText?(bytes)
        case .ping(let data): receivePing(data)
        case .failed(let code, let reason): close(code: code, reason: reason)
        case .closed(let code): close(code == 1005 ? 1000 : code, "", isAnswer: true)
        }
    }

    func receive(_ error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength:
            close(code: 1009, reason: "a message over \(core.limits.maximumMessageBytes) bytes")
        case is NIOWebSocketError:
            close(code: 1002, reason: "an invalid control frame")
        // After such an error no further frame can be decoded, not even the answer to a close frame.
        case is ByteToMessageDecoderError where state == .closing:
            break
        default:
            abort()
        }
    }

    /// Limits the memory for a browser that sends pings without reading the answers.
    private func receivePing(_ data: ByteBuffer) {
        if channel.isWritable { write(EncodedFrame(.pong, data)) } else { unansweredPing = data }
    }

    // MARK: - Sending

    func writabilityChanged() {
        guard state == .open else { return }
        deadline?.cancel()
        deadline = nil
        guard channel.isWritable else {
            deadline = schedule(in: core.limits.sendTimeout) { $0.abort() }
            return
        }
        if let ping = unansweredPing.take() { receivePing(ping) }
        onWritable?()
    }

    private func write(_ frame: EncodedFrame, promise: EventLoopPromise<Void>? = nil) {
        let buffered = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let waiting = buffered + (isEncrypted ? unflushed : 0)
        let count = frame.bytes.readableBytes
        guard waiting == 0 || waiting + count <= core.limits.maximumOutboundBytes else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return abort()
        }
        if unflushed == 0 { core.flushLater(self) }
        unflushed += count
        channel.pipeline.syncOperations.write(NIOAny(frame.bytes), promise: promise)
    }

    func flush() {
        guard unflushed > 0 else { return }
        let wasTLSFull = isTLSFull
        unflushed = 0
        channel.flush()
        // The channel does not report room in the TLS handler's buffer, which it does not count.
        if wasTLSFull, isWritable { onWritable?() }
    }
}

/// Passes received frames to a connection. Sent frames are already encoded.
final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let connection: WebSocketConnection

    init(_ connection: WebSocketConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { connection.receive(Self.unwrapInboundIn(data)) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        connection.writabilityChanged()
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { connection.receive(error) }

    func channelInactive(context: ChannelHandlerContext) {
        connection.end()
        context.fireChannelInactive()
    }
}
