import Foundation
import SignalR
import TestSupport
import Testing

/// A server that sends exactly what a test scripts.
final class ScriptedServer: Sendable {
    private let listener: RawSocket
    let port: Int

    init() throws { (listener, port) = try RawSocket.listen() }

    var url: String { "http://127.0.0.1:\(port)/hub" }

    /// The next connection.
    func accept() async throws -> ScriptedPeer { ScriptedPeer(try await listener.accept()) }

    /// Answers a negotiation, and then closes.
    @discardableResult
    func negotiate(
        transports: [String] = ["WebSockets"], token: String = "token", extra: String = ""
    ) async throws -> ScriptedPeer.Request {
        let offers = transports.map { name in
            let formats = name == "ServerSentEvents" ? "[\"Text\"]" : "[\"Text\",\"Binary\"]"
            return "{\"transport\":\"\(name)\",\"transferFormats\":\(formats)}"
        }
        let answer =
            "{\"negotiateVersion\":1,\"connectionId\":\"id\",\"connectionToken\":\"\(token)\",\(extra)"
            + "\"availableTransports\":[\(offers.joined(separator: ","))]}"
        return try await self.answer(answer)
    }

    /// Answers one request with JSON, and then closes.
    @discardableResult
    func answer(_ json: String, status: String = "200 OK") async throws -> ScriptedPeer.Request {
        let peer = try await accept()
        let request = try await peer.request()
        try peer.respond(status, ["Content-Type: application/json", "Connection: close"], json)
        peer.closeOutput()
        return request
    }

    /// Accepts a WebSocket.
    func webSocket() async throws -> ScriptedPeer {
        let peer = try await accept()
        try await peer.upgrade()
        return peer
    }

    /// Accepts a WebSocket and does the handshake with the client.
    func hub(_ name: String = "json", version: Int = 1) async throws -> ScriptedPeer {
        let peer = try await webSocket()
        try await peer.performHandshake(name, version: version)
        return peer
    }

    /// Negotiates, accepts a WebSocket and does the handshake.
    func negotiatedHub(_ name: String = "json") async throws -> ScriptedPeer {
        try await negotiate()
        return try await hub(name)
    }
}

extension ScriptedPeer {
    func performHandshake(_ name: String = "json", version: Int = 1) async throws {
        let frame = try await frame()
        #expect(frame.text == "{\"protocol\":\"\(name)\",\"version\":\(version)}\u{1e}")
        try write(Self.frame(Array("{}\u{1e}".utf8)))
    }

    /// Answers the client's close frame, and expects it to disconnect.
    func goodbye() async throws {
        #expect(try await message() == "{\"type\":7}")
        let frame = try await frame()
        #expect(frame == Frame(opcode: 8, isLast: true, bytes: [0x03, 0xE8]))
        try write(Self.frame([0x03, 0xE8], opcode: 8))
        try await readToEnd()
    }
}
