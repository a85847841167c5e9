internal import DashboardPage
package import ElementalFollowing
package import Logging
import NIOCore
package import ServiceMetrics
package import WebServer

/// The page that shows services live and sets their elements, and the page of their metrics.
package final class DashboardServer: Sendable {
    private let sessions: Follower
    private let web: WebServer
    private let board: NIOLoopBoundBox<Board>

    /// - Parameter sessions: not running yet. Its one event loop serves the pages too.
    package init(
        _ sessions: Follower, metrics: ServiceMetrics, pairings: PagePairings, policy: BoardPolicy,
        web options: WebServerOptions, hostName: String, logger: Logger
    ) {
        self.sessions = sessions
        let loop = sessions.options.connect.eventLoopGroup.next()
        let board = NIOLoopBoundBox.makeBoxSendingValue(
            Board(
                sessions, pairings: pairings, policy: policy, host: hostName,
                helloTimeout: options.limits.helloTimeout, on: loop), eventLoop: loop)
        self.board = board
        var routes = WebRoutes()
        routes.files = Self.files
        routes.generated["/metrics"] = { WebResponse(metrics: metrics) }
        routes.onSocket = { board.value.add($0) }
        web = WebServer(options, routes: routes, on: loop, logger: logger)
        sessions.onEvent { metrics.note($0) }
        sessions.onEvent(on: loop) { board.value.note($0) }
    }

    /// The files of the folder Page, which are compiled into the program.
    static let files: [String: WebFile] = {
        let files = UnsafeBufferPointer(start: dashboard_page_files(), count: dashboard_page_file_count())
        return Dictionary(
            uniqueKeysWithValues: files.map { file in
                let bytes = ByteBuffer(bytes: UnsafeBufferPointer(start: file.bytes, count: file.byte_count))
                return (
                    String(cString: file.path), WebFile(contentType: String(cString: file.content_type), bytes: bytes)
                )
            })
    }()

    /// Starts to listen. Call it once, before ``run()``. Call ``stop()`` even if it throws.
    package func start() async throws -> (host: String, port: Int) { try await web.start() }

    /// Follows the services and serves pages until the task is cancelled. Then it sets what pages hold to the rest
    /// values, before it disconnects from the services.
    package func run() async throws {
        let quality = web.eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) {
            [board] _ in board.value.tellQuality()
        }
        defer { quality.cancel() }
        let following = Task { [sessions] in try await sessions.run() }
        try await withTaskCancellationHandler {
            try await following.value
        } onCancel: { [web, board] in
            web.eventLoop.execute {
                board.value.letGoAll()
                following.cancel()
            }
        }
    }

    package func stop() async {
        let pairings = await web.eventLoop.run { [board] in board.value.end() }
        for pairing in pairings { await pairing.value }
        await web.stop()
    }
}

extension WebResponse {
    package init(metrics: ServiceMetrics) {
        self.init(contentType: ServiceMetrics.contentType, body: ByteBuffer(bytes: metrics.text()))
    }
}
