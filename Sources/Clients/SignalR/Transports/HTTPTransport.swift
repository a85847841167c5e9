import ClientTransport
import NIOCore
import NIOHTTP1
import Support

/// Carries a hub connection over HTTP requests. It sends with POSTs. It receives server-sent events, or polls with GETs
/// that the server answers when it has something to send. Used on its event loop only.
final class HTTPTransport: HubTransport {
    /// The maximum time for a poll. A server answers an idle poll earlier: ASP.NET Core after 90 s.
    private static var pollTimeout: TimeAmount { .seconds(120) }
    /// ASP.NET Core answers the first poll at once and accepts messages from then on. Other servers hold it until they
    /// have a first message, which is their answer to the handshake. The transport counts as open after this time, so
    /// that the handshake is sent.
    private static var firstPoll: TimeAmount { .milliseconds(300) }
    /// A server that holds polls holds them for at least this time.
    private static var shortPoll: TimeAmount { .seconds(1) }
    /// The pauses between polls if the server answers them at once with nothing, from the second such answer in a row.
    private static let pauses = BackOff(first: .milliseconds(250), maximum: .seconds(5))
    /// After this many such answers in a row the connection ends: about a minute.
    private static var maximumIdleAnswers: Int { 16 }
    /// The high watermark: with this many unsent bytes, senders wait.
    private static var highMark: Int { 256 * 1024 }

    private let isPolling: Bool
    private let maker: RequestMaker
    private let events: TransportEvents
    private let requester: HTTPRequester
    private let poster: HTTPRequester
    private let dialer: Dialer
    private let options: HubConnectionOptions
    private let timeout: TimeAmount
    private let opened: EventLoopPromise<Void>
    private var parser: EventStreamParser
    private var isOver = false
    private(set) var isAccepted: Bool
    private var pollHasContent = false
    /// How many polls in a row were answered at once with nothing.
    private var idleAnswers = 0

    /// Bytes for the next POST, queued while another is running.
    private var queue = ByteBuffer()
    private var underway = 0
    private var isPosting = false
    /// Succeeds when everything was sent, or when nothing more can be sent.
    private var drained: EventLoopPromise<Void>?

    init(
        _ kind: TransportKind, _ dialer: Dialer, _ maker: RequestMaker, _ options: HubConnectionOptions,
        maximumEvent: Int, events: TransportEvents
    ) {
        isPolling = kind == .longPolling
        isAccepted = !isPolling
        self.dialer = dialer
        self.maker = maker
        self.options = options
        self.events = events
        timeout = TimeAmount(options.handshakeTimeout)
        requester = HTTPRequester(dialer, maximumIdle: options.maximumIdle)
        poster = HTTPRequester(dialer, maximumIdle: options.maximumIdle)
        opened = dialer.eventLoop.makePromise()
        parser = EventStreamParser(maximumEvent: maximumEvent)
    }

    /// Begins to receive. The future succeeds when the transport is open.
    func open() -> EventLoopFuture<Void> {
        get()
        if isPolling {
            dialer.eventLoop.assumeIsolated().scheduleTask(in: Self.firstPoll) { [opened] in opened.succeed() }
        }
        return opened.futureResult
    }

    var isReading: Bool {
        get { requester.isReading }
        set { requester.isReading = newValue }
    }

    /// Closes the transport when everything is sent. With long polling, a DELETE notifies the server.
    func close() -> EventLoopFuture<Void> {
        guard !isOver else { return dialer.eventLoop.makeSucceededVoidFuture() }
        let promise = drained ?? dialer.eventLoop.makePromise()
        drained = promise
        if !isPosting { endPosting() }
        return promise.futureResult.assumeIsolated().flatMap { [self] in
            end(nil)
            guard isPolling else { return dialer.eventLoop.makeSucceededVoidFuture() }
            let closed = dialer.eventLoop.makePromise(of: Void.self)
            let farewell = HTTPRequester(dialer, maximumIdle: options.maximumIdle)
            perform(.DELETE, farewell, "the farewell", timeout: min(timeout, .seconds(2))) { _ in
                // Nothing follows on this HTTP connection.
                farewell.close()
                closed.succeed()
            }
            return closed.futureResult
        }.nonisolated()
    }

    func abort() { end(nil) }

    private func end(_ error: SignalRError?) {
        guard !isOver else { return }
        isOver = true
        opened.fail(error ?? SignalRError(.connectionLost, "the server ended the connection"))
        requester.close()
        poster.close()
        endPosting()
        events.closed(error)
    }

    /// Makes a request with a fresh token and performs it. A reply other than success counts as a failure.
    private func perform(
        _ method: HTTPMethod, _ requester: HTTPRequester, _ what: String, body: ByteBuffer? = nil,
        headers: HTTPHeaders = [:], timeout: TimeAmount, onHead: ((HTTPReply) -> Void)? = nil,
        onBody: ((ByteBuffer) -> Void)? = nil, _ completed: @escaping (Result<HTTPReply, SignalRError>) -> Void
    ) {
        maker.eventLoop.makeFutureWithTask { [maker] in
            try await maker.request(method, body: body, headers: headers)
        }.assumeIsolated().flatMap {
            requester.perform($0, timeout: timeout, onHead: onHead, onBody: onBody)
        }.whenComplete { [maker] result in
            switch result {
            case .success(let reply): completed(reply.isSuccess ? .success(reply) : .failure(reply.refusal(of: what)))
            case .failure(let error): completed(.failure(Dialer.explain(error, maker.address)))
            }
        }
    }

    // MARK: - Receiving

    private func get() {
        let start = options.now()
        pollHasContent = false
        perform(
            .GET, requester, isPolling ? "a poll" : "the request for events",
            headers: isPolling ? [:] : ["Accept": "text/event-stream", "Cache-Control": "no-cache"],
            timeout: isPolling ? Self.pollTimeout : timeout,
            onHead: isPolling ? nil : { [opened] _ in opened.succeed() },
            onBody: { [weak self] in self?.receive($0) }
        ) { [self] result in
            guard !isOver else { return }
            switch result {
            case .success(let reply) where isPolling && reply.status != .noContent:
                isAccepted = true
                opened.succeed()
                pollAgain(after: options.now() - start)
            case .success: end(nil)
            case .failure(let error): end(error)
            }
        }
    }

    /// Polls again, after growing pauses if the server answers polls at once with nothing.
    private func pollAgain(after time: TimeAmount) {
        idleAnswers = pollHasContent || time >= Self.shortPoll ? 0 : idleAnswers + 1
        guard idleAnswers <= Self.maximumIdleAnswers else {
            let what = "the server answered \(idleAnswers) polls in a row at once with nothing: it must hold them"
            return end(SignalRError(.protocolViolation, what))
        }
        // The first such answer is normal: ASP.NET Core sends it.
        guard idleAnswers > 1 else { return get() }
        let pause = Self.pauses.delay(before: idleAnswers - 1)
        let eventLoop = dialer.eventLoop
        let pausing = eventLoop.makeFutureWithTask { [options] in await options.pause(pause, eventLoop) }
        pausing.assumeIsolated().whenComplete { [self] _ in
            if !isOver { get() }
        }
    }

    private func receive(_ bytes: ByteBuffer) {
        guard !isOver, bytes.readableBytes > 0 else { return }
        pollHasContent = true
        guard !isPolling else { return events.received(bytes) }
        do throws(SignalRError) {
            try parser.feed(bytes) { event in
                if !isOver { events.received(event) }
            }
        } catch {
            end(error)
        }
    }

    // MARK: - Sending

    var isWritable: Bool { queue.readableBytes + underway < Self.highMark }

    func send(_ bytes: ByteBuffer) {
        guard !isOver else { return }
        queue.writeImmutableBuffer(bytes)
        guard !isPosting else { return }
        isPosting = true
        // At the end of the event loop's turn, so that everything sent in this turn is included.
        dialer.eventLoop.assumeIsolated().execute { [self] in post() }
    }

    private func post() {
        guard !isOver, queue.readableBytes > 0 else { return endPosting() }
        let body = queue
        queue = ByteBuffer()
        underway = body.readableBytes
        perform(.POST, poster, "a message", body: body, timeout: timeout) { [self] result in
            let wasWritable = isWritable
            underway = 0
            guard !isOver else { return }
            switch result {
            case .success:
                if !wasWritable, isWritable { events.becameWritable() }
                post()
            case .failure(let error): end(error)
            }
        }
    }

    private func endPosting() {
        isPosting = false
        drained.take()?.succeed()
    }
}
