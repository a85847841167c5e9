package import ElementalFollowing
package import Logging
import NIOCore
package import ServiceMetrics
import Support
package import WebServer

/// The page that shows services, live, and sets their elements; and their metrics beside it.
package final class DashboardServer: Sendable {
    private let sessions: Follower
    private let web: WebServer
    private let entrance: Entrance
    private let makeBoard: @Sendable () -> Board

    /// - Parameters:
    ///   - sessions: the services that pages show, not running yet.
    ///   - metrics: what `/metrics` tells.
    ///   - pairings: where to note what a person pairs from a page.
    ///   - policy: what pages may do.
    ///   - options: where and for whom to serve.
    ///   - hostName: this machine's name, for the page's title.
    package init(
        _ sessions: Follower, metrics: ServiceMetrics, pairings: PagePairings, policy: BoardPolicy,
        web options: WebServerOptions, hostName: String, logger: Logger
    ) {
        self.sessions = sessions
        let entrance = Entrance()
        self.entrance = entrance
        var routes = WebRoutes()
        routes.files = PageFiles.all
        routes.generated["/metrics"] = {
            WebResponse(contentType: ServiceMetrics.contentType, body: ByteBuffer(bytes: metrics.text()))
        }
        routes.socketPath = "/live"
        routes.onSocket = { socket in entrance.board?.add(socket) }
        let web = WebServer(options, routes: routes, logger: logger)
        self.web = web
        let inbox = Inbox { web.eventLoop.execute { entrance.board?.wake() } }
        sessions.onEvent { event in inbox.put(event) }
        sessions.onEvent { event in metrics.note(event) }
        makeBoard = {
            Board(
                sessions, pairings: pairings, policy: policy, host: hostName,
                helloTimeout: options.limits.helloTimeout, on: web.eventLoop,
                verdict: { token, socket in web.verdict(token: token, from: socket) }, inbox: inbox)
        }
    }

    /// Begins to listen. Call it once, before ``run()``.
    ///
    /// - Returns: the address and the port.
    /// - Throws: ``WebServerError`` if it cannot; the server has to be stopped all the same.
    package func start() async throws -> (host: String, port: Int) {
        let loop = web.eventLoop
        await loop.run { [entrance, makeBoard] in entrance.open(makeBoard(), on: loop) }
        return try await web.start()
    }

    /// Follows the services and serves pages until the task is cancelled.
    ///
    /// - Throws: ``ElementalError`` if a service's name is none.
    package func run() async throws {
        let quality = web.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) {
            [entrance] _ in entrance.board?.tellQuality()
        }
        defer { quality.cancel() }
        try await sessions.run()
    }

    /// Ends with pages and connections.
    package func stop() async {
        let pairings = await web.eventLoop.run { [entrance] in entrance.board?.end() ?? [] }
        for pairing in pairings { await pairing.value }
        await web.stop()
    }

    /// Where the pages come in: the board, once it is there. For the web server's event loop.
    private final class Entrance: Sendable {
        private let bound = Locked<NIOLoopBound<Board>?>(nil)

        var board: Board? { bound.withLock { $0 }?.value }

        func open(_ board: Board, on eventLoop: any EventLoop) {
            bound.withLock { $0 = NIOLoopBound(board, eventLoop: eventLoop) }
        }
    }
}
