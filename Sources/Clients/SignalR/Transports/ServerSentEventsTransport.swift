import ClientTransport
import NIOCore
import NIOHTTP1

/// Carries a hub connection over server-sent events one way and POSTs the other. On its event loop only.
final class ServerSentEventsTransport: HubTransport {
    let kind = TransportKind.serverSentEvents
    private let eventLoop: any EventLoop
    private let events: TransportEvents
    private let requester: HTTPRequester
    private let posts: PostQueue
    private var parser: EventStreamParser
    private var isOver = false

    /// Requests the stream of events.
    ///
    /// - Returns: the transport, and a future that succeeds when it is open.
    static func open(
        _ dialer: Dialer, _ maker: RequestMaker, headers: HTTPHeaders, timeout: TimeAmount, maximumEvent: Int,
        events: TransportEvents
    ) -> (ServerSentEventsTransport, EventLoopFuture<Void>) {
        let transport = ServerSentEventsTransport(dialer, maker, timeout: timeout, maximumEvent: maximumEvent, events)
        var headers = headers
        headers.replaceOrAdd(name: "Accept", value: "text/event-stream")
        headers.replaceOrAdd(name: "Cache-Control", value: "no-cache")
        let opened = dialer.eventLoop.makePromise(of: Void.self)
        let request = HTTPRequest(method: .GET, address: maker.address, headers: headers)
        transport.requester.perform(
            request, timeout: timeout, onHead: { _ in opened.succeed() }, onBody: { transport.receive($0) }
        ).assumeIsolated().whenComplete { result in
            switch result {
            case .success(let reply) where reply.isSuccess:
                transport.end(nil)
            case .success(let reply):
                let error = reply.refusal(of: "the request for events")
                opened.fail(error)
                transport.end(error)
            case .failure(let error):
                let error = Dialer.explain(error, maker.address)
                opened.fail(error)
                transport.end(error)
            }
        }
        return (transport, opened.futureResult)
    }

    private init(
        _ dialer: Dialer, _ maker: RequestMaker, timeout: TimeAmount, maximumEvent: Int, _ events: TransportEvents
    ) {
        eventLoop = dialer.eventLoop
        self.events = events
        requester = HTTPRequester(dialer)
        parser = EventStreamParser(maximumEvent: maximumEvent)
        posts = PostQueue(
            maker, dialer, timeout: timeout, becameWritable: events.becameWritable)
        posts.onFailure = { [weak self] in self?.end($0) }
    }

    var isWritable: Bool { posts.isWritable }
    var isReading: Bool {
        get { requester.isReading }
        set { requester.isReading = newValue }
    }
    var isAccepted: Bool { true }

    func send(_ bytes: ByteBuffer) { posts.send(bytes) }

    func close() -> EventLoopFuture<Void> {
        posts.drain().assumeIsolated().map { [self] in abort() }.nonisolated()
    }

    func abort() { end(nil) }

    private func receive(_ bytes: ByteBuffer) {
        guard !isOver else { return }
        do throws(SignalRError) {
            try parser.feed(bytes) { event in
                if !isOver { events.received(event) }
            }
        } catch {
            end(error)
        }
    }

    private func end(_ error: SignalRError?) {
        guard !isOver else { return }
        isOver = true
        requester.close()
        posts.close()
        events.closed(error)
    }
}
