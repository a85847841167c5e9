import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import SignalR

/// What RFC 6455 allows a server to do with a WebSocket, and what it does not.
struct WebSocketTests {
    private static let hello = Array((#"{"type":1,"target":"Say","arguments":["hello"]}"# + "\u{1e}").utf8)

    /// A hub whose client records the received calls and its end.
    private func withNotes(
        _ change: (HubConnectionBuilder) -> HubConnectionBuilder = { $0 },
        _ body: (HubConnection, ScriptedPeer, Transcript<String>, Transcript<String>) async throws -> Void
    ) async throws {
        let (said, events) = (Transcript<String>(), Transcript<String>())
        try await withHub(
            change,
            prepare: { connection in
                connection.on("Say") { (text: String) in said.add(text) }
                connection.onClosed { error in events.add(error.map { "\($0.code)" } ?? "-") }
            }
        ) { connection, hub, _ in try await body(connection, hub, said, events) }
    }

    @Test
    func jsonMayComeInBinaryFrames() async throws {
        try await withNotes { _, hub, said, _ in
            try hub.write(ScriptedPeer.frame(Self.hello, opcode: 2))
            #expect(try await said.next() == "hello")
        }
    }

    @Test
    func fragmentsAreJoined() async throws {
        try await withNotes { _, hub, said, _ in
            let bytes = Self.hello
            try hub.write(ScriptedPeer.frame(Array(bytes[..<5]), isLast: false))
            // A ping in between, and a fragment with nothing in it.
            try hub.write(ScriptedPeer.frame([1, 2], opcode: 9))
            try hub.write(ScriptedPeer.frame([], opcode: 0, isLast: false))
            try hub.write(ScriptedPeer.frame(Array(bytes[5...9]), opcode: 0, isLast: false))
            try hub.write(ScriptedPeer.frame(Array(bytes[10...]), opcode: 0))
            #expect(try await said.next() == "hello")
            #expect(try await hub.frame() == ScriptedPeer.Frame(opcode: 10, isLast: true, bytes: [1, 2]))
        }
    }

    @Test
    func bytesMayComeOneByOne() async throws {
        try await withNotes { _, hub, said, _ in
            for byte in ScriptedPeer.frame(Self.hello) + ScriptedPeer.frame(Self.hello) { try hub.write([byte]) }
            #expect(try await said.next() == "hello")
            #expect(try await said.next() == "hello")
        }
    }

    @Test
    func aMessageOfOneMebibyteEachWay() async throws {
        try await withNotes { connection, hub, said, _ in
            let text = String(repeating: "x", count: 1 << 20)
            async let sent: Void = connection.send("Take", text)
            #expect(try await hub.message() == #"{"type":1,"target":"Take","arguments":["\#(text)"]}"#)
            try await sent
            try hub.say(#"{"type":1,"target":"Say","arguments":["\#(text)"]}"#)
            #expect(try await said.next() == text)
        }
    }

    @Test
    func aMessageOverTheLimitEndsTheConnection() async throws {
        try await withNotes({ $0.withOptions { $0.maximumMessageSize = 1000 } }) { _, hub, _, events in
            // What announces the frame is enough.
            try hub.write(Array(ScriptedPeer.frame(Array(repeating: 0x20, count: 1 << 20 + 1)).prefix(10)))
            #expect(try await events.next() == "messageTooLarge")
            #expect(try await hub.frame() == ScriptedPeer.Frame(opcode: 8, isLast: true, bytes: [0x03, 0xF1]))
        }
        // In pieces, each under it.
        try await withNotes({ $0.withOptions { $0.maximumMessageSize = 1000 } }) { _, hub, _, events in
            for _ in 0..<3 { try hub.write(ScriptedPeer.frame(Array(repeating: 0x20, count: 500))) }
            #expect(try await events.next() == "messageTooLarge")
        }
    }

    private static let violations: [(String, [UInt8])] = [
        ("masked", ScriptedPeer.frame(hello, mask: [1, 2, 3, 4])),
        ("a continuation of nothing", ScriptedPeer.frame(hello, opcode: 0)),
        ("a message in a message", ScriptedPeer.frame([0x20], isLast: false) + ScriptedPeer.frame(hello)),
        ("an unknown opcode", ScriptedPeer.frame(hello, opcode: 3)),
        ("reserved bits", [0xC1] + ScriptedPeer.frame(hello).dropFirst()),
        ("a fragmented ping", ScriptedPeer.frame([1], opcode: 9, isLast: false)),
        ("a large ping", ScriptedPeer.frame(Array(repeating: 1, count: 126), opcode: 9)),
        ("no JSON", ScriptedPeer.frame(Array("x\u{1e}".utf8))),
    ]

    @Test(arguments: violations)
    func violationsEndTheConnection(_ name: String, _ frames: [UInt8]) async throws {
        try await withNotes { _, hub, _, events in
            try hub.write(frames)
            #expect(try await events.next() == "protocolViolation")
            try await hub.readToEnd()
        }
    }

    @Test(arguments: [(1000, "-"), (1001, "-"), (1011, "connectionLost"), (4000, "connectionLost")])
    func closeCodes(_ code: Int, _ ending: String) async throws {
        try await withNotes { connection, hub, _, events in
            let bytes = [UInt8(code >> 8), UInt8(code & 0xFF)]
            try hub.write(ScriptedPeer.frame(bytes + Array("why".utf8), opcode: 8))
            #expect(try await events.next() == ending)
            #expect(try await hub.frame() == ScriptedPeer.Frame(opcode: 8, isLast: true, bytes: bytes))
            try await hub.readToEnd()
            #expect(connection.state == .disconnected)
        }
    }

    @Test
    func aCloseWithoutACode() async throws {
        try await withNotes { _, hub, _, events in
            try hub.write(ScriptedPeer.frame([], opcode: 8))
            #expect(try await events.next() == "-")
        }
    }

    @Test
    func theEndOfTheSocketWithoutAWordEndsAConnectionThatIsNotToReconnect() async throws {
        try await withNotes { _, hub, _, events in
            hub.closeOutput()
            let ending = try await events.next()
            #expect(ending == "connectionLost")
        }
    }

    /// A connection whose end is detected by sending.
    private final class Broken: ChannelOutboundHandler {
        typealias OutboundIn = Any

        func flush(context: ChannelHandlerContext) { context.close(promise: nil) }
    }

    @Test
    func aCloseFrameOnABrokenConnectionEndsIt() throws {
        let channel = EmbeddedChannel(handler: Broken())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let ended = Transcript<Void>()
        let transport = WebSocketTransport(
            eventLoop: channel.embeddedEventLoop, isBinary: true,
            events: TransportEvents(received: { _ in }, closed: { _ in ended.add(()) }, becameWritable: {}))
        try channel.pipeline.syncOperations.addHandler(transport)
        let closed = Transcript<Void>()
        transport.close().whenSuccess { closed.add(()) }
        #expect(ended.all.count == 1)
        #expect(closed.all.count == 1)
        #expect(!channel.isActive)
    }
}
