import Dashboard
import Elemental
import ElementalFollowing
import Logging
import ServiceMetrics
import Support
import TestSupport
import Testing
import WebServer

/// A dashboard that shows a service of this process.
struct DashboardFixture: Sendable {
    let service: ElementalService
    let servicePort: Int
    /// The page's.
    let port: Int

    static func makeService(_ elements: ElementCatalogue, port: Int = 0) -> ElementalService {
        ElementalService("robot", displayName: "Rover", elements: elements, configuration: .loopback(port: port))
    }

    /// Runs both during the body.
    ///
    /// - Parameter others: the ports of further services that it shows.
    static func with(
        _ elements: ElementCatalogue, others: [Int] = [], policy: BoardPolicy = BoardPolicy(), token: String? = nil,
        helloTimeout: Duration? = nil, _ body: (DashboardFixture) async throws -> Void
    ) async throws {
        let service = makeService(elements, port: try PortLease.port())
        try await service.start()
        let servicePort = try #require(service.port)
        try await with([servicePort] + others, policy: policy, token: token, helloTimeout: helloTimeout) { port in
            try await body(DashboardFixture(service: service, servicePort: servicePort, port: port))
        }
        await service.stop()
    }

    /// Runs a dashboard of the services at those ports during the body, which is passed the page's port.
    static func with(
        _ servicePorts: [Int], policy: BoardPolicy = BoardPolicy(), token: String? = nil,
        helloTimeout: Duration? = nil, connect: ConnectOptions = ConnectOptions(), _ body: (Int) async throws -> Void
    ) async throws {
        var session = FollowerOptions(name: "page")
        session.connect = connect
        session.connect.eventLoopGroup = connect.eventLoopGroup.next()
        session.connect.timeout = Patience.wait
        session.pingInterval = .milliseconds(100)
        let sessions = Follower(servicePorts.map { .address(host: "127.0.0.1", port: $0) }, session)
        var options = WebServerOptions()
        options.port = 0
        options.token = token
        options.limits.areForTests()
        if let helloTimeout { options.limits.helloTimeout = helloTimeout }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let dashboard = DashboardServer(
            sessions, metrics: ServiceMetrics(), pairings: PagePairings(directory: nil, logger: logger), policy: policy,
            web: options, hostName: "test", logger: logger)
        let address = try await dashboard.start()
        let running = Task { try await dashboard.run() }
        try await carryOut {
            try await body(address.port)
        } finally: {
            running.cancel()
            _ = await running.result
            await dashboard.stop()
        }
    }

    /// A page that knows the service, which is connected.
    func page(token: String? = nil, receiveBuffer: Int32? = nil) async throws -> OpenPage {
        try await Self.page(at: port, showing: servicePort, token: token, receiveBuffer: receiveBuffer)
    }

    static func page(
        at port: Int, showing servicePort: Int? = nil, token: String? = nil, receiveBuffer: Int32? = nil,
        state: String = "connected"
    ) async throws -> OpenPage {
        let socket = try await PageSocket.open(port: port, receiveBuffer: receiveBuffer)
        try socket.send(token.map { #"{"t":"hello","token":"\#($0)"}"# } ?? #"{"t":"hello"}"#)
        let hello = try await socket.next("hello")
        let service = try await socket.next("service") {
            $0["state"] == Optional(state) && (servicePort == nil || $0.number("port") == servicePort.map(Double.init))
        }
        return OpenPage(
            socket: socket, hello: hello, service: service, key: Int(try #require(service.number("key"))))
    }

    /// A page that shows the service.
    func openPage(receiveBuffer: Int32? = nil) async throws -> OpenPage {
        let page = try await page(receiveBuffer: receiveBuffer)
        try page.send(#"{"t":"open","keys":[\#(page.key)]}"#)
        _ = try await page.socket.next("catalogue")
        return page
    }
}

/// A page that has said hello.
struct OpenPage: Sendable {
    let socket: PageSocket
    let hello: JSONLine
    let service: JSONLine
    /// The service's number.
    let key: Int

    func send(_ text: String) throws { try socket.send(text) }

    /// The next binary message. Others are skipped: what they say is of other things.
    func nextBinary() async throws -> [UInt8] {
        while true {
            if case .binary(let bytes) = try await socket.next() { return bytes }
        }
    }

    /// Waits until the element has a value.
    func wait(for id: Int, toBe value: Double) async throws {
        _ = try await socket.next("values") { self.value($0, id) as? Double == value }
    }

    /// The element's value in a message with values.
    func value(_ message: JSONLine, _ id: Int) -> Any? {
        let services: [String: [String: Any]]? = message["v"]
        return services?["\(key)"]?["\(id)"]
    }
}
