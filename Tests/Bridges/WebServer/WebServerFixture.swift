import NIOCore
import Support
import TestSupport
import Testing

@testable import WebServer

/// A running server and what its sockets have received.
final class WebServerFixture: Sendable {
    let server: WebServer
    let port: Int
    let sockets: Sockets

    private init(_ server: WebServer, _ port: Int, _ sockets: Sockets) {
        self.server = server
        self.port = port
        self.sockets = sockets
    }

    private static let files = [
        "/": WebFile(contentType: "text/html; charset=utf-8", bytes: ByteBuffer(string: "<p>page")),
        "/big": WebFile(contentType: "application/octet-stream", bytes: ByteBuffer(repeating: 7, count: 1 << 20)),
    ]

    /// Starts a server on a port that the system chooses, and stops it after the body.
    static func with<Result>(
        _ change: (inout WebServerOptions) -> Void = { _ in },
        routes: (inout WebRoutes) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation,
        _ body: (WebServerFixture) async throws -> Result
    ) async throws -> Result {
        var options = WebServerOptions()
        options.port = 0
        options.limits.areForTests()
        change(&options)
        let sockets = Sockets()
        var offered = WebRoutes()
        offered.files = files
        offered.generated = [
            "/metrics": { WebResponse(contentType: "text/plain", body: ByteBuffer(string: "up 1\n")) }
        ]
        offered.onSocket = { sockets.add($0) }
        routes(&offered)
        let server = WebServer(options, routes: offered)
        sockets.server.withLock { $0 = server }
        return try await carryOut {
            let (_, port) = try await server.start()
            return try await body(WebServerFixture(server, port, sockets))
        } finally: {
            await server.stop()
        }
    }

    /// The error of a server that does not start.
    static func failure(_ change: (inout WebServerOptions) -> Void) async -> WebServerError? {
        var options = WebServerOptions()
        options.port = 0
        change(&options)
        let server = WebServer(options, routes: WebRoutes())
        let error = await #expect(throws: WebServerError.self) { try await server.start() }
        await server.stop()
        return error
    }

    func client(receiveBuffer: Int32? = nil) throws -> WebClient { try WebClient(port, receiveBuffer: receiveBuffer) }

    /// A client with a WebSocket.
    func open(receiveBuffer: Int32? = nil) async throws -> WebClient {
        let client = try client(receiveBuffer: receiveBuffer)
        try await client.open()
        return client
    }

    /// The status of the answer to a single request.
    func status(
        _ path: String = "/", method: String = "GET", _ headers: [String] = [], host: String? = nil
    ) async throws -> Int {
        try await client().get(path, method: method, headers, host: host).status
    }

    /// Calls the body on the event loop with a socket, by the order of their opening.
    func on(_ index: Int, _ body: @escaping @Sendable (WebSocketConnection) -> Void) async throws {
        try await eventually("socket \(index) is open") { sockets.count > index }
        let socket = sockets.all.withLock { $0[index] }
        await server.eventLoop.run { body(socket.value) }
    }
}

/// What happened on the sockets of a server.
final class Sockets: Sendable {
    let all = Locked<[NIOLoopBound<WebSocketConnection>]>([])
    let texts = Locked<[String]>([])
    let closed = Locked<[UInt64]>([])
    let writable = Locked(0)
    let server = Locked<WebServer?>(nil)

    var count: Int { all.withLock { $0.count } }

    func add(_ connection: WebSocketConnection) {
        guard let server = server.withLock({ $0 }) else { return }
        let id = connection.id
        all.withLock { $0.append(NIOLoopBound(connection, eventLoop: server.eventLoop)) }
        connection.onText = { [texts] bytes in texts.withLock { $0.append(String(buffer: bytes)) } }
        connection.onClose = { [closed] in closed.withLock { $0.append(id) } }
        connection.onWritable = { [writable] in writable.withLock { $0 += 1 } }
    }
}

extension WebServerLimits {
    /// No time limit ends a test that is slow; at its end nobody takes leave.
    mutating func areForTests() {
        for time in [
            \.headTimeout, \.idleTimeout, \.sendTimeout, \.computingTimeout, \.pingInterval, \.maximumSilence,
            \.helloTimeout, \.closeTimeout, \.wrongTokenPeriod,
        ] as [WritableKeyPath<WebServerLimits, Duration>] {
            self[keyPath: time] = Patience.wait * 9
        }
        stopTimeout = .milliseconds(50)
    }
}
