internal import NIOCore
import NIOHTTP1
import NIOSSL
import NIOWebSocket
internal import Support

/// Answers the requests of one connection in order, each when there is room for its answer.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Item {
        case request(HTTPRequestHead)
        /// The connection closes after this answer.
        case refusal(WebResponse)
    }

    /// What the connection waits for. It determines the time limit.
    private enum Phase {
        case head, idle, answer, sending, lingering, nothing
    }

    private let core: ServerCore
    private let host: IPAddress
    /// Whether the connection exceeds the limit: it is answered with 503 and closed.
    private let isOneTooMany: Bool
    private var context: ChannelHandlerContext?

    private var waiting = CircularBuffer<Item>(initialCapacity: 1)
    private var isNew = true
    private var head: HTTPRequestHead?
    /// Bytes that arrived since the last complete head.
    private var unparsed = 0
    /// Whether a head was completed by the bytes that are being parsed.
    private var hasParsedHead = false
    /// Whether no further request is accepted.
    private var hasLast = false
    private var answering: (number: UInt64, head: HTTPRequestHead, task: Task<Void, Never>)?
    private var lastNumber: UInt64 = 0
    /// The number of answers that are not completely passed to the system.
    private var unsent = 0
    /// Whether the last answer has been written: further input is discarded.
    private var isClosing = false
    private var isReadHeld = false
    private var phase = Phase.nothing
    private var timer: Scheduled<Void>?

    init(core: ServerCore, host: IPAddress, isOneTooMany: Bool) {
        self.core = core
        self.host = host
        self.isOneTooMany = isOneTooMany
    }

    // MARK: - Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin() }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin()
        context.fireChannelActive()
    }

    private func begin() {
        if isOneTooMany {
            refuse(WebResponse(status: 503, "Too many connections.", headers: [("Retry-After", "10")]))
        }
        updatePhase()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        context = nil
        answering?.task.cancel()
        answering = nil
        waiting.removeAll()
        timer?.cancel()
        timer = nil
    }

    /// Closes the connection, after the current answer if there is one.
    func stop() {
        waiting.removeAll()
        hasLast = true
        if answering == nil, unsent == 0 { context?.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: refuse(Self.tooLarge)
        case HTTPParserError.invalidEOFState: context.close(promise: nil)
        case is HTTPParserError: refuse(WebResponse(status: 400, "This is not HTTP/1.1."))
        default: context.close(promise: nil)
        }
    }

    private static let tooLarge = WebResponse(status: 431, "The request is too large.")

    // MARK: - Receiving

    /// - Returns: whether to parse the bytes.
    func bytesArrive(_ count: Int) -> Bool {
        guard !hasLast else { return false }
        unparsed += count
        hasParsedHead = false
        updatePhase()
        return true
    }

    func bytesWereParsed() {
        if hasParsedHead { unparsed = 0 }
        if unparsed > core.limits.maximumHeadBytes { refuse(Self.tooLarge) }
        updatePhase()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasLast else { return }
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            hasParsedHead = true
            guard head.byteCount <= core.limits.maximumHeadBytes else { return refuse(Self.tooLarge) }
            self.head = head
            // Answers before the body arrives, which is discarded.
            if head.hasBody { take(head) }
        case .body: break
        case .end:
            if let head { take(head) }
        }
    }

    private func take(_ head: HTTPRequestHead) {
        self.head = nil
        isNew = false
        if !head.isLasting { hasLast = true }
        guard waiting.count < core.limits.maximumPipelined else {
            return refuse(WebResponse(status: 503, "Too many requests at once.", headers: [("Retry-After", "1")]))
        }
        waiting.append(.request(head))
        proceed()
    }

    /// Closes the connection with an answer, after the earlier ones.
    private func refuse(_ response: WebResponse) {
        if case .refusal = waiting.last { return }
        guard !isClosing else { return }
        hasLast = true
        waiting.append(.refusal(response))
        proceed()
    }

    /// Does not read while requests wait, so that a client cannot request more answers than it receives.
    func read(context: ChannelHandlerContext) {
        if isHolding { isReadHeld = true } else { context.read() }
    }

    private var isHolding: Bool {
        guard let context else { return false }
        if isClosing { return unsent > 0 }
        return answering != nil || !waiting.isEmpty || !context.channel.isWritable
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        proceed()
        context.fireChannelWritabilityChanged()
    }

    private func proceed() {
        while let context, answering == nil, !isClosing, context.channel.isWritable {
            guard let item = waiting.popFirst() else { break }
            switch item {
            case .refusal(let response): write(response, to: nil, context)
            case .request(let head): answer(head, context)
            }
        }
        updatePhase()
        if isReadHeld, !isHolding, let context {
            isReadHeld = false
            context.read()
        }
    }

    // MARK: - Answering

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch core.decide(head, from: host) {
        case .answer(let response): write(response, to: head, context)
        case .generate(let route): generate(route, head, context)
        case .upgrade: upgrade(head, context)
        }
    }

    private func generate(
        _ route: @escaping @Sendable () async -> WebResponse, _ head: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        lastNumber += 1
        let number = lastNumber
        let task = core.compute(route) { [weak self] response in
            guard let self, self.answering?.number == number, let context = self.context else { return }
            self.answering = nil
            self.write(response, to: head, context)
            self.proceed()
        }
        guard let task else {
            let busy = WebResponse(status: 503, "Too many requests at once.", headers: [("Retry-After", "1")])
            return write(busy, to: head, context)
        }
        answering = (number, head, task)
    }

    /// - Parameter head: the request; `nil` if it was invalid.
    private func write(_ response: WebResponse, to head: HTTPRequestHead?, _ context: ChannelHandlerContext) {
        // A server that is stopping accepts no further requests.
        let isLast = head?.isLasting != true || (hasLast && waiting.isEmpty)
        var connection: String? = isLast ? "close" : nil
        if !isLast, head?.version == .http1_0 { connection = "keep-alive" }
        if response.headers.contains(where: { $0.name == "Upgrade" }) { connection = "upgrade, close" }
        let text = ResponseText.head(response, date: core.date(), connection: connection)
        if isLast {
            isClosing = true
            hasLast = true
            waiting.removeAll()
        }
        unsent += 1
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.sent() }
        if head?.method == .HEAD || response.body.readableBytes == 0 {
            context.writeAndFlush(Self.wrapOutboundOut(text), promise: promise)
        } else {
            context.write(Self.wrapOutboundOut(text), promise: nil)
            context.writeAndFlush(Self.wrapOutboundOut(response.body), promise: promise)
        }
    }

    private func sent() {
        unsent -= 1
        phase = .nothing
        if isClosing, unsent == 0, let context {
            // Closing at once would reset the connection if the client still sends, and the answer might get lost.
            context.close(mode: .output, promise: nil)
        }
        proceed()
    }

    /// Turns the connection into a WebSocket.
    private func upgrade(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard core.hasRoomForSocket else {
            let busy = WebResponse(status: 503, "Too many WebSockets.", headers: [("Retry-After", "10")])
            return write(busy, to: head, context)
        }
        // The future is completed at once.
        var headers: HTTPHeaders?
        Self.upgrader.buildUpgradeResponse(
            channel: context.channel, upgradeRequest: head, initialResponseHeaders: [:]
        ).assumeIsolated().whenSuccess { headers = $0 }
        guard let headers else {
            return write(WebResponse(status: 400, "Not a valid WebSocket request."), to: head, context)
        }
        let (channel, isReadHeld) = (context.channel, isReadHeld)
        context.writeAndFlush(Self.wrapOutboundOut(ResponseText.switching(headers, date: core.date())), promise: nil)
        do { try core.open(channel, self, from: host) } catch { return channel.close(promise: nil) }
        if isReadHeld { channel.read() }
    }

    /// Used only to compute the answer's headers.
    private static let upgrader = NIOWebSocketServerUpgrader(
        shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
        upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })

    // MARK: - Time

    private func updatePhase() {
        let limits = core.limits
        let (now, time): (Phase, Duration?) =
            if context == nil {
                (.nothing, nil)
            } else if unsent > 0 || (!waiting.isEmpty && answering == nil) {
                (.sending, limits.sendTimeout)
            } else if isClosing {
                (.lingering, limits.lingerTimeout)
            } else if answering != nil {
                (.answer, limits.computingTimeout)
            } else if unparsed > 0 || head != nil || isNew {
                (.head, limits.headTimeout)
            } else {
                (.idle, limits.idleTimeout)
            }
        guard now != phase || timer == nil else { return }
        phase = now
        timer?.cancel()
        timer = nil
        guard let time else { return }
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { [weak self] in
            self?.expire()
        }
    }

    private func expire() {
        timer = nil
        guard let context else { return }
        switch phase {
        case .head where unparsed > 0: refuse(WebResponse(status: 408, "The request took too long."))
        case .answer:
            guard let (_, head, task) = answering.take() else { return context.close(promise: nil) }
            task.cancel()
            let late = WebResponse(status: 503, "The answer took too long.", headers: [("Retry-After", "1")])
            write(late, to: head, context)
            proceed()
        default: context.close(promise: nil)
        }
    }
}

/// Counts the arriving bytes for the request handler, in front of the parser. The parser does not limit the length of a
/// request's first line, and a refused client could feed it for ever.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let requests: RequestHandler

    init(_ requests: RequestHandler) { self.requests = requests }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard requests.bytesArrive(Self.unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
        requests.bytesWereParsed()
    }
}
