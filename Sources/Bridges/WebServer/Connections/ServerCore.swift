internal import Logging
internal import NIOCore
import NIOHTTP1
import NIOSSL
import NIOWebSocket
internal import Support

/// The shared state of a server's connections. Used only on its event loop.
final class ServerCore {
    private static var maximumTurnedAway: Int { 32 }

    let eventLoop: any EventLoop
    let limits: WebServerLimits
    /// Set before the server listens.
    var tls: NIOSSLContext?
    private let networks: [IPNetwork]?
    private let routes: WebRoutes
    private let logger: Logger
    private var router: Router
    private var isStopping = false

    private var channels: [ObjectIdentifier: (channel: any Channel, requests: RequestHandler)] = [:]
    private var admissions: Admissions
    /// The number of connections answered with 503 beyond the limit.
    private var turnedAwayCount = 0
    private var sockets: [ObjectIdentifier: WebSocketConnection] = [:]
    private var lastSocket: UInt64 = 0
    private var computingCount = 0
    private var unflushed: [WebSocketConnection] = []
    private var dated: (time: time_t, text: String) = (-1, "")
    private var nextWarning = NIODeadline.uptimeNanoseconds(0)
    /// Open while there are no connections.
    private let empty: Latch

    init(
        _ options: WebServerOptions, _ routes: WebRoutes, _ empty: Latch, on eventLoop: any EventLoop, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.routes = routes
        self.empty = empty
        self.logger = logger
        limits = options.limits
        networks = options.networks
        admissions = Admissions(options.limits)
        router = Router(options, routes)
    }

    func listen(at address: IPAddress?, port: Int) { router.rules.listen(at: address, port: port) }

    var connectionCount: Int { channels.count }
    var socketCount: Int { sockets.count }

    // MARK: - Connections

    /// - Throws: if the caller has to close the connection at once.
    func receive(_ channel: any Channel) throws {
        guard !isStopping else { throw ChannelError.ioOnClosedChannel }
        let host = channel.remoteAddress.flatMap { IPAddress($0) } ?? .unknown
        if let networks, !host.isLoopback, !networks.contains(where: { $0.contains(host) }) {
            throw ChannelError.ioOnClosedChannel
        }
        let isAdmitted = admissions.admit(host)
        if !isAdmitted {
            warn("refused a connection beyond the limit", host)
            guard tls == nil, turnedAwayCount < Self.maximumTurnedAway else { throw ChannelError.ioOnClosedChannel }
            turnedAwayCount += 1
        }
        let id = ObjectIdentifier(channel)
        let requests = RequestHandler(core: self, host: host, isOneTooMany: !isAdmitted)
        channels[id] = (channel, requests)
        empty.close()
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in
            channels[id] = nil
            sockets.removeValue(forKey: id)?.end()
            if isAdmitted { admissions.release(host) } else { turnedAwayCount -= 1 }
            if channels.isEmpty { empty.open() }
        }
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = limits.maximumHeadBytes
        parsing.maxHeaderListSize = limits.maximumHeadBytes
        parsing.maxHeaderFieldCount = 128
        let parser = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: parsing))
        try pipeline.addHandlers(ArrivalHandler(requests), parser, requests)
    }

    // MARK: - Requests

    func decide(_ head: HTTPRequestHead, from host: IPAddress) -> Router.Decision {
        let decision = router.decide(head, from: host, at: eventLoop.now)
        if case .answer(let response) = decision, [403, 421, 429].contains(response.status) {
            warn("a request was refused", host, asked: head.headers.first(name: "host"), response)
        }
        return decision
    }

    func check(_ token: String?, from host: IPAddress) -> TokenVerdict {
        router.tokens.check(token, from: host, at: eventLoop.now)
    }

    /// - Parameter completion: called on the event loop, unless the task was cancelled.
    /// - Returns: `nil` if too many answers are being computed.
    func compute(
        _ route: @escaping @Sendable () async -> WebResponse, completion: @escaping (WebResponse) -> Void
    ) -> Task<Void, Never>? {
        guard computingCount < limits.maximumComputing else { return nil }
        computingCount += 1
        let made = eventLoop.makePromise(of: WebResponse.self)
        made.futureResult.assumeIsolated().whenComplete { [self] result in
            computingCount -= 1
            if case .success(let response) = result { completion(response) }
        }
        return made.completeWithTask { await route() }
    }

    func date() -> String {
        let now = time(nil)
        if dated.time != now { dated = (now, ResponseText.date(now)) }
        return dated.text
    }

    // MARK: - WebSockets

    var hasRoomForSocket: Bool { !isStopping && sockets.count < limits.maximumWebSockets }

    /// Turns a connection into a WebSocket after its request for one was answered.
    func open(_ channel: any Channel, _ requests: RequestHandler, from host: IPAddress) throws {
        guard channel.isActive, let onSocket = routes.onSocket else { throw ChannelError.ioOnClosedChannel }
        lastSocket += 1
        let connection = WebSocketConnection(id: lastSocket, channel: channel, host: host, core: self)
        let pipeline = channel.pipeline.syncOperations
        let frames = WebSocketFrameDecoder(maxFrameSize: max(limits.maximumMessageBytes, 125))
        try pipeline.addHandlers(ByteToMessageHandler(frames), WebSocketHandler(connection))
        pipeline.removeHandler(try pipeline.handler(type: ArrivalHandler.self), promise: nil)
        pipeline.removeHandler(requests, promise: nil)
        // Must be removed last: it passes on the frames that arrived with the request.
        pipeline.removeHandler(
            try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self), promise: nil)
        sockets[ObjectIdentifier(channel)] = connection
        onSocket(connection)
        connection.start()
    }

    /// Flushes a connection at the end of this turn of the event loop.
    func flushLater(_ connection: WebSocketConnection) {
        unflushed.append(connection)
        guard unflushed.count == 1 else { return }
        eventLoop.assumeIsolated().execute { [self] in
            let connections = unflushed
            unflushed = []
            for connection in connections { connection.flush() }
        }
    }

    /// Closes all connections in an orderly way.
    func stop() {
        isStopping = true
        for (id, entry) in channels where sockets[id] == nil { entry.requests.stop() }
        for connection in sockets.values { connection.close(code: 1001, reason: "the server is stopping") }
    }

    func abort() {
        for connection in sockets.values { connection.abort() }
        for entry in channels.values { entry.channel.close(promise: nil) }
    }

    /// Logs at most one line in ten seconds, however much is refused.
    private func warn(
        _ message: Logger.Message, _ host: IPAddress, asked: String? = nil, _ response: WebResponse? = nil
    ) {
        let now = eventLoop.now
        guard nextWarning <= now else { return }
        nextWarning = now + .seconds(10)
        var metadata: Logger.Metadata = ["from": host.isLoopback ? "this machine" : "\(host)"]
        if let asked { metadata["host"] = "\(asked.prefix(100))" }
        if let response { metadata["status"] = "\(response.status)" }
        logger.notice(message, metadata: metadata)
    }
}
