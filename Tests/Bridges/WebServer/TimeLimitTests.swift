import Logging
import NIOCore
import NIOEmbedded
import Support
import TestSupport
import Testing

@testable import WebServer

/// How long a client may take for what, by a clock that only these tests set; and that a server of sockets keeps it.
struct TimeLimitTests {
    /// A server with one connection. Use it in a test that is not `async`.
    private final class Bed {
        let loop = EmbeddedEventLoop()
        let channel: EmbeddedChannel
        let sockets = Locked<[NIOLoopBound<WebSocketConnection>]>([])
        let closedCount = Locked(0)

        init() throws {
            let (loop, sockets, closedCount) = (loop, sockets, closedCount)
            let options = WebServerOptions()
            var routes = WebRoutes()
            routes.files["/"] = WebFile(contentType: "text/html", bytes: ByteBuffer(string: "<p>page"))
            routes.onSocket = { socket in
                sockets.withLock { $0.append(NIOLoopBound(socket, eventLoop: loop)) }
                socket.onClose = { closedCount.withLock { $0 += 1 } }
            }
            let core = ServerCore(
                options, routes, Latch(), on: loop, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            core.listen(at: IPAddress(literal: "127.0.0.1"), port: 8080)
            channel = EmbeddedChannel(loop: loop)
            try core.receive(channel)
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 8080), promise: nil)
        }

        /// A connection that is a WebSocket.
        static func withSocket() throws -> Bed {
            let bed = try Bed()
            let lines = ["GET /live HTTP/1.1", "Host: localhost:8080"] + WebClient.upgrade
            try bed.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
            guard bed.text().hasPrefix("HTTP/1.1 101") else { throw TestSupportError("Not a valid WebSocket") }
            return bed
        }

        func send(_ bytes: [UInt8]) throws {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
            loop.run()
        }

        /// What the server has written since the last call.
        func written() -> [UInt8] {
            loop.run()
            var bytes: [UInt8] = []
            while let buffer = try? channel.readOutbound(as: ByteBuffer.self) {
                bytes += Array(buffer.readableBytesView)
            }
            return bytes
        }

        func text() -> String { String(decoding: written(), as: UTF8.self) }

        /// Lets the time pass up to a limit, before which the connection must be open.
        func pass(_ limit: TimeAmount) {
            loop.advanceTime(by: limit - .nanoseconds(1))
            #expect(channel.isActive)
            loop.advanceTime(by: .nanoseconds(1))
        }
    }

    private static let page = "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n"

    /// The rest of a request, and the beginning of its answer: nobody is told who has asked for nothing.
    @Test(arguments: [
        ("", ""), ("G", "HTTP/1.1 408"), ("GET / HTTP/1.1\r\nHost: localhost:8080\r\n", "HTTP/1.1 408"),
        ("GET / HTTP/1.1\r\nX: ", "HTTP/1.1 408"),
    ])
    func requestsHaveTenSeconds(_ text: String, _ answer: String) throws {
        for isFirst in [true, false] where isFirst || !text.isEmpty {
            let bed = try Bed()
            if !isFirst {
                try bed.send(Array(Self.page.utf8))
                #expect(bed.text().hasPrefix("HTTP/1.1 200"))
            }
            if !text.isEmpty { try bed.send(Array(text.utf8)) }
            bed.pass(.seconds(10))
            #expect(bed.text().prefix(12) == answer)
            #expect(!bed.channel.isActive)
        }
    }

    @Test func idleConnectionsHaveThirtySeconds() throws {
        let bed = try Bed()
        for _ in 0..<3 {
            try bed.send(Array(Self.page.utf8))
            #expect(bed.text().hasPrefix("HTTP/1.1 200"))
            bed.loop.advanceTime(by: .seconds(29))
        }
        bed.pass(.seconds(1))
        #expect(!bed.channel.isActive && bed.text().isEmpty)
    }

    @Test func browsersThatAnswerNoPingAreClosed() throws {
        let bed = try Bed.withSocket()
        for _ in 1...2 {
            bed.pass(.seconds(20))
            #expect(bed.written() == [0x89, 0])
        }
        bed.pass(.seconds(20))
        #expect(!bed.channel.isActive)
        #expect(bed.closedCount.withLock { $0 } == 1)
    }

    @Test func browsersThatAnswerPingsAreNot() throws {
        let bed = try Bed.withSocket()
        for _ in 0..<10 {
            bed.pass(.seconds(20))
            #expect(bed.written() == [0x89, 0])
            try bed.send(WebClient.frame([], opcode: 10))
        }
        #expect(bed.channel.isActive)
    }

    @Test func browsersWithoutRoomAreClosed() throws {
        let bed = try Bed.withSocket()
        bed.channel.isWritable = false
        bed.channel.pipeline.fireChannelWritabilityChanged()
        bed.pass(.seconds(30))
        #expect(!bed.channel.isActive)
        #expect(bed.closedCount.withLock { $0 } == 1)
    }

    @Test func closingHasTwoSeconds() throws {
        let bed = try Bed.withSocket()
        try #require(bed.sockets.withLock { $0.first }).value.close(code: 1008, reason: "")
        #expect(bed.written() == [0x88, 2, 3, 0xF0])
        #expect(bed.closedCount.withLock { $0 } == 1)
        bed.pass(.seconds(2))
        #expect(!bed.channel.isActive)
    }

    // MARK: - Over sockets

    @Test func silentClientsAreClosed() async throws {
        try await WebServerFixture.with {
            $0.limits.headTimeout = .milliseconds(50)
        } _: { (fixture) async throws in
            #expect(try await fixture.client().rest().isEmpty)
        }
        try await WebServerFixture.with {
            $0.limits.idleTimeout = .milliseconds(50)
            $0.limits.pingInterval = .milliseconds(20)
            $0.limits.maximumSilence = .milliseconds(100)
        } _: { fixture in
            let client = try fixture.client()
            _ = try await client.get()
            #expect(try await client.rest().isEmpty)
            let browser = try await fixture.open()
            _ = try await browser.rest()
            try await eventually { fixture.sockets.closed.withLock { $0 } == [1] }
        }
    }
}
