import ClientTransport
import NIOCore
import NIOHTTP1
import Support

/// Carries a hub connection over long polling: GETs that the server answers when it has something to send, and POSTs
/// the other way. On its event loop only.
final class LongPollingTransport: HubTransport {
    /// A server answers a poll with nothing after some time; ASP.NET Core after 90 s.
    private static var pollTimeout: TimeAmount { .seconds(120) }
    /// ASP.NET Core answers the first poll at once and accepts messages from then on. Other servers hold it until they
    /// have a first message, which is their answer to ours: so after this time ours is sent.
    private static var firstPoll: TimeAmount { .milliseconds(300) }
    /// A server that holds polls does so for longer.
    private static var shortPoll: TimeAmount { .seconds(1) }
    /// The pauses of a server that answers polls at once with nothing, from its second such answer in a row.
    private static let pauses = BackOff(first: .milliseconds(250), maximum: .seconds(5))
    /// After this many such answers in a row the connection ends: about a minute.
    private static var maximumIdleAnswers: Int { 16 }

    let kind = TransportKind.longPolling
    private let maker: RequestMaker
    private let events: TransportEvents
    private let requester: HTTPRequester
    private let dialer: Dialer
    private let options: HubConnectionOptions
    private let posts: PostQueue
    private let opened: EventLoopPromise<Void>
    private var isOver = false
    private(set) var isAccepted = false
    private var pollHasContent = false
    /// How many polls in a row were answered at once with nothing.
    private var idleAnswers = 0

    /// Starts polling.
    ///
    /// - Returns: the transport, and a future that succeeds when it is open.
    static func open(
        _ dialer: Dialer, _ maker: RequestMaker, _ options: HubConnectionOptions, events: TransportEvents
    ) -> (LongPollingTransport, EventLoopFuture<Void>) {
        let transport = LongPollingTransport(dialer, maker, options, events)
        transport.poll()
        dialer.eventLoop.assumeIsolated().scheduleTask(in: firstPoll) { transport.opened.succeed() }
        return (transport, transport.opened.futureResult)
    }

    private init(
        _ dialer: Dialer, _ maker: RequestMaker, _ options: HubConnectionOptions, _ events: TransportEvents
    ) {
        self.dialer = dialer
        self.maker = maker
        self.options = options
        self.events = events
        requester = HTTPRequester(dialer)
        opened = dialer.eventLoop.makePromise()
        posts = PostQueue(
            maker, dialer, timeout: TimeAmount(options.handshakeTimeout), becameWritable: events.becameWritable)
        posts.onFailure = { [weak self] in self?.end($0) }
    }

    var isWritable: Bool { posts.isWritable }
    var isReading: Bool {
        get { requester.isReading }
        set { requester.isReading = newValue }
    }

    func send(_ bytes: ByteBuffer) { posts.send(bytes) }

    /// Tells the server with a DELETE that the connection is over.
    func close() -> EventLoopFuture<Void> {
        guard !isOver else { return maker.eventLoop.makeSucceededVoidFuture() }
        let farewell = HTTPRequester(dialer)
        let (maker, timeout) = (maker, min(TimeAmount(options.handshakeTimeout), .seconds(2)))
        return posts.drain().assumeIsolated().flatMap { [self] in
            end(nil)
            let making = maker.eventLoop.makeFutureWithTask { try await maker.request(.DELETE) }
            return making.assumeIsolated().flatMap { farewell.perform($0, timeout: timeout) }.nonisolated()
        }.map { _ in
            // Nothing follows on this HTTP connection.
            farewell.close()
        }.flatMapError { _ in
            farewell.close()
            return maker.eventLoop.makeSucceededVoidFuture()
        }.nonisolated()
    }

    func abort() { end(nil) }

    private func poll() {
        let start = options.now()
        pollHasContent = false
        let making = maker.eventLoop.makeFutureWithTask { [maker] in try await maker.request(.GET) }
        making.assumeIsolated().flatMap { [self] request in
            requester.perform(request, timeout: Self.pollTimeout, onBody: { [weak self] in self?.receive($0) })
        }.whenComplete { [self] result in
            guard !isOver else { return opened.fail(SignalRError(.stopped, "the connection was stopped")) }
            switch result {
            case .success(let reply) where reply.status == .noContent:
                end(nil)
            case .success(let reply) where reply.isSuccess:
                isAccepted = true
                opened.succeed()
                pollAgain(after: options.now() - start)
            case .success(let reply):
                end(reply.refusal(of: "a poll"))
            case .failure(let error):
                end(Dialer.explain(error, maker.address))
            }
        }
    }

    /// Polls again, later and later if the server answers polls at once with nothing.
    private func pollAgain(after time: TimeAmount) {
        idleAnswers = pollHasContent || time >= Self.shortPoll ? 0 : idleAnswers + 1
        guard idleAnswers <= Self.maximumIdleAnswers else {
            return end(
                SignalRError(
                    .protocolViolation,
                    "the server answered \(idleAnswers) polls in a row at once with nothing: it has to hold them"))
        }
        // ASP.NET Core's first answer.
        guard idleAnswers > 1 else { return poll() }
        let pause = Self.pauses.delay(before: idleAnswers - 1)
        let eventLoop = dialer.eventLoop
        let pausing = eventLoop.makeFutureWithTask { [options] in await options.pause(pause, eventLoop) }
        pausing.assumeIsolated().whenComplete { [self] _ in
            if !isOver { poll() }
        }
    }

    private func receive(_ bytes: ByteBuffer) {
        guard !isOver, bytes.readableBytes > 0 else { return }
        pollHasContent = true
        events.received(bytes)
    }

    private func end(_ error: SignalRError?) {
        guard !isOver else { return }
        isOver = true
        opened.fail(error ?? SignalRError(.connectionLost, "the server ended the connection"))
        requester.close()
        posts.close()
        events.closed(error)
    }
}
