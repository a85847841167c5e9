import NIOCore
import Support
import TestSupport
import Testing

@testable import WebServer

/// WebSockets, and the bounds on them.
struct SocketTests {
    private typealias Closing = WebClient.Closing

    @Test func messagesPassBothWays() async throws {
        try await WebServerFixture.with { fixture in
            let client = try fixture.client()
            let response = try await client.open()
            #expect(response.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            try client.say("hello")
            try client.send([0xC3], opcode: 1, isLast: false)
            try client.send([], opcode: 9)
            try client.send([0xA9], opcode: 0)
            #expect(try await client.frame().opcode == 10)
            try await eventually("both have arrived") { fixture.sockets.texts.withLock { $0 } == ["hello", "é"] }
            try await fixture.on(0) { socket in
                #expect(!socket.isEncrypted)
                #expect(socket.isWritable)
                socket.send(EncodedFrame(text: ByteBuffer(string: "one")))
                socket.send(EncodedFrame(binary: ByteBuffer(bytes: [1, 2])))
            }
            #expect(try await client.frame().text == "one")
            let binary = try await client.frame()
            #expect(binary.opcode == 2)
            #expect(binary.bytes == [1, 2])
            try client.send([3, 0xE8], opcode: 8)
            #expect(try await client.closing() == Closing(code: 1000, reason: ""))
            #expect(try await client.rest().isEmpty)
            try await eventually("it is told") { fixture.sockets.closed.withLock { $0 } == [1] }
            try await eventually("nothing is left") { await fixture.server.counts() == (0, 0) }
        }
    }

    /// Frames that come with the request are not lost.
    @Test func aClientNeedNotWaitForTheAnswer() async throws {
        try await WebServerFixture.with { fixture in
            let client = try fixture.client()
            let lines = ["GET /live HTTP/1.1", "Host: localhost:\(fixture.port)"] + WebClient.upgrade
            let request = lines.joined(separator: "\r\n") + "\r\n\r\n"
            let frames = (0..<3).flatMap { WebClient.frame(Array("\($0)".utf8), opcode: 1) }
            // A request before it on the same connection is answered first.
            let first = "GET /metrics HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\n\r\n"
            try client.socket.write(Array((first + request).utf8) + frames)
            #expect(try await client.response().text == "up 1\n")
            #expect(try await client.response().status == 101)
            try await eventually("all have arrived") { fixture.sockets.texts.withLock { $0 } == ["0", "1", "2"] }
        }
    }

    @Test func oneFrameGoesToAllAsItIs() async throws {
        try await WebServerFixture.with { fixture in
            let clients = [try await fixture.open(), try await fixture.open()]
            for size in [0, 125, 126, 65_535, 65_536, 200_000] {
                let frame = EncodedFrame(binary: ByteBuffer(repeating: UInt8(truncatingIfNeeded: size), count: size))
                for index in clients.indices { try await fixture.on(index) { $0.send(frame) } }
                for client in clients {
                    let received = try await client.frame()
                    #expect(received.raw == Array(frame.bytes.readableBytesView))
                    #expect(received.bytes.count == size)
                }
            }
        }
    }

    @Test func requestsForSocketsAreChecked() async throws {
        try await WebServerFixture.with { (fixture) async throws in
            #expect(try await fixture.status("/live") == 426)
            func status(without header: String, _ other: String? = nil) async throws -> Int {
                let headers = WebClient.upgrade.filter { !$0.hasPrefix(header + ":") } + (other.map { [$0] } ?? [])
                return try await fixture.status("/live", headers)
            }
            #expect(try await status(without: "Connection") == 426)
            #expect(try await status(without: "Upgrade", "Upgrade: h2c") == 426)
            #expect(try await status(without: "Sec-WebSocket-Version", "Sec-WebSocket-Version: 8") == 426)
            #expect(try await status(without: "Sec-WebSocket-Key") == 400)
            #expect(try await status(without: "Sec-WebSocket-Key", "Sec-WebSocket-Key: x") == 400)
            #expect(try await status(without: "x", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==") == 400)
            // The page is not a socket.
            #expect(try await fixture.status("/", WebClient.upgrade) == 200)
            #expect(fixture.sockets.count == 0)
        }
    }

    @Test func socketsAreBounded() async throws {
        try await WebServerFixture.with {
            $0.limits.maximumWebSockets = 2
        } _: { fixture in
            let clients = [try await fixture.open(), try await fixture.open()]
            #expect(try await fixture.status("/live", WebClient.upgrade) == 503)
            #expect(try await fixture.status() == 200)
            try clients[0].send([], opcode: 8)
            _ = try await clients[0].rest()
            try await fixture.client().open()
        }
    }

    private static func masked(_ bytes: [UInt8], _ opcode: UInt8, isLast: Bool = true) -> [UInt8] {
        WebClient.frame(bytes, opcode: opcode, isLast: isLast)
    }

    private static let violations: [(name: String, bytes: [UInt8], code: Int)] = [
        ("no mask", ScriptedPeer.frame([65]), 1002),
        ("reserved bit", [0xC1] + masked([65], 1).dropFirst(), 1002),
        ("unknown opcode", masked([], 3), 1002),
        ("unknown control opcode", masked([], 11), 1002),
        ("binary", masked([1], 2), 1003),
        ("not UTF-8", masked([0xFF], 1), 1007),
        ("not UTF-8 in the end", masked([0xC3], 1), 1007),
        ("half a surrogate", masked([0xED, 0xA0, 0x80], 1), 1007),
        ("too large", masked([UInt8](repeating: 65, count: 1001), 1), 1009),
        ("much too large", [0x81, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1009),
        ("negative length", [0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1009),
        (
            "too large in fragments",
            masked([UInt8](repeating: 65, count: 600), 1, isLast: false)
                + masked([UInt8](repeating: 65, count: 600), 0, isLast: false), 1009
        ),
        (
            "too many fragments",
            masked([], 1, isLast: false) + (0..<10).flatMap { _ in masked([], 0, isLast: false) }, 1009
        ),
        ("a reason that is not UTF-8", masked([0x03, 0xE8, 0xFF], 8), 1007),
        ("continuation of nothing", masked([65], 0), 1002),
        ("message within another", masked([65], 1, isLast: false) + masked([65], 1), 1002),
        ("fragmented ping", masked([65], 9, isLast: false), 1002),
        ("large ping", masked([UInt8](repeating: 65, count: 126), 9), 1002),
        ("half a close code", masked([3], 8), 1002),
        ("forbidden close code", masked([3, 0xED], 8), 1002),
    ]

    @Test(arguments: violations.map(\.name))
    func wrongFramesEndTheSocket(_ name: String) async throws {
        let violation = try #require(Self.violations.first { $0.name == name })
        try await WebServerFixture.with {
            $0.limits.maximumMessageBytes = 1000
            $0.limits.maximumFragments = 10
            $0.limits.closeTimeout = .milliseconds(50)
        } _: { fixture in
            let client = try await fixture.open()
            try client.socket.write(violation.bytes)
            #expect(try await client.closing().code == violation.code)
            // Whether the other end answers or not.
            #expect(try await client.rest().isEmpty)
            #expect(fixture.sockets.texts.withLock { $0.isEmpty })
            try await eventually { await fixture.server.counts() == (0, 0) }
            #expect(fixture.sockets.closed.withLock { $0 } == [1])
        }
    }

    @Test func theLargestMessageIsTaken() async throws {
        try await WebServerFixture.with { fixture in
            let client = try await fixture.open()
            try client.send([UInt8](repeating: 65, count: 65_536), opcode: 1)
            try await eventually { fixture.sockets.texts.withLock { $0.first?.utf8.count == 65_536 } }
            try client.send([UInt8](repeating: 65, count: 65_537), opcode: 1)
            #expect(try await client.closing().code == 1009)
        }
    }

    @Test(arguments: [1, 9, 10] as [UInt8])
    func floodsEndTheSocket(_ opcode: UInt8) async throws {
        try await WebServerFixture.with {
            $0.limits.framesPerSecond = 1
            $0.limits.frameBurst = 10
        } _: { fixture in
            let client = try await fixture.open()
            try client.socket.write((0..<30).flatMap { _ in Self.masked([65], opcode) })
            #expect(try await client.closing() == Closing(code: 1008, reason: "too fast"))
            try client.send([3, 0xF0], opcode: 8)
            #expect(try await client.rest().isEmpty)
            #expect(fixture.sockets.texts.withLock { $0.count } <= 12)
        }
    }

    @Test func aPageMaySendAsFastAsItDraws() {
        var now = NIODeadline.now()
        var bucket = TokenBucket(capacity: 400, perSecond: 200, at: now)
        let burst = (0..<401).map { _ in bucket.take(at: now) }
        #expect(burst == Array(repeating: true, count: 400) + [false])
        for _ in 0..<1000 {
            now = now + .milliseconds(6)
            let isAllowed = bucket.take(at: now)
            #expect(isAllowed)
        }
    }

    @Test func slowReadersAreClosed() async throws {
        try await WebServerFixture.with {
            $0.limits.maximumOutboundBytes = 1 << 20
        } _: { fixture in
            let clients = [try await fixture.open(receiveBuffer: 4096), try await fixture.open()]
            let frame = EncodedFrame(binary: ByteBuffer(repeating: 1, count: 100_000))
            let sent = Locked(0)
            try await eventually("the slow one is closed") {
                try await fixture.on(0) { $0.send(frame) }
                sent.withLock { $0 += 1 }
                return fixture.sockets.closed.withLock { $0 } == [1]
            }
            // The system has taken some, too; on loopback up to about 4 MB.
            #expect(sent.withLock { $0 } < 200)
            // The other one has noticed nothing.
            try await fixture.on(1) { $0.send(frame) }
            #expect(try await clients[1].frame().bytes.count == 100_000)
        }
    }

    @Test func socketsWithoutRoomAreClosedAfterAWhile() async throws {
        try await WebServerFixture.with {
            $0.limits.sendTimeout = .milliseconds(50)
            $0.limits.outboundHighWatermark = 1000
        } _: { fixture in
            let client = try await fixture.open(receiveBuffer: 4096)
            // Once: nothing waits, so its size does not matter.
            try await fixture.on(0) { socket in
                socket.send(EncodedFrame(binary: ByteBuffer(repeating: 1, count: 20 << 20)))
                #expect(!socket.isWritable)
            }
            try await eventually("it is closed") { fixture.sockets.closed.withLock { $0 } == [1] }
            try await eventually { await fixture.server.counts() == (0, 0) }
            withExtendedLifetime(client) {}
        }
    }

    @Test func roomIsTold() async throws {
        try await WebServerFixture.with {
            $0.limits.outboundHighWatermark = 1000
            // Through a small buffer everything takes long, meanwhile no ping is answered.
            $0.limits.sendTimeout = .seconds(300)
            $0.limits.maximumSilence = .seconds(300)
        } _: { fixture in
            let client = try await fixture.open(receiveBuffer: 65_536)
            let before = fixture.sockets.writable.withLock { $0 }
            try await fixture.on(0) { socket in
                socket.send(EncodedFrame(binary: ByteBuffer(repeating: 1, count: 6 << 20)))
            }
            // Answered with the newest one when there is room.
            for number in 0..<5 { try client.send([UInt8(number)], opcode: 9) }
            #expect(try await client.frame().bytes.count == 6 << 20)
            try await eventually { fixture.sockets.writable.withLock { $0 } > before }
            try await fixture.on(0) { #expect($0.isWritable) }
            var pong = try await client.frame()
            while pong.bytes != [4] { pong = try await client.frame() }
            #expect(pong.opcode == 10)
        }
    }

    @Test func theOwnerCloses() async throws {
        try await WebServerFixture.with { fixture in
            let client = try await fixture.open()
            try await fixture.on(0) { socket in
                socket.send(EncodedFrame(text: ByteBuffer(string: "last")))
                socket.close(code: 1008, reason: "token")
                socket.close(code: 1000, reason: "again")
                socket.send(EncodedFrame(text: ByteBuffer(string: "late")))
            }
            #expect(try await client.frame().text == "last")
            // What comes now is not looked at.
            try client.say("late")
            #expect(try await client.closing() == Closing(code: 1008, reason: "token"))
            try client.send([3, 0xF0], opcode: 8)
            #expect(try await client.rest().isEmpty)
            #expect(fixture.sockets.texts.withLock { $0.isEmpty })
            #expect(fixture.sockets.closed.withLock { $0 } == [1])
        }
    }

    @Test func longReasonsAreCut() {
        let frame = EncodedFrame.close(1008, String(repeating: "é", count: 100))
        #expect(frame.bytes.readableBytes == 2 + 2 + 122)
    }
}
