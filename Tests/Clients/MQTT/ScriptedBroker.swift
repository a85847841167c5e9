import Foundation
import TestSupport
import Testing

@testable import MQTT

/// A broker that sends exactly what a test scripts.
final class ScriptedBroker: Sendable {
    private let listener: RawSocket
    let port: Int

    /// - Parameter receiveBuffer: the size of the system's receive buffer of a connection; the default if `nil`.
    init(receiveBuffer: Int32? = nil) throws {
        (listener, port) = try RawSocket.listen(receiveBuffer: receiveBuffer)
    }

    var url: String { "mqtt://127.0.0.1:\(port)" }

    /// The next connection, of which nothing is read.
    func accept() async throws -> BrokerPeer { BrokerPeer(try await listener.accept()) }

    /// The next connection, which gets its session.
    func session() async throws -> BrokerPeer {
        let peer = try await accept()
        let connect = try await peer.packet()
        guard connect.first == 0x10 else { throw TestSupportError("no CONNECT but \(connect)") }
        try peer.write(BrokerPeer.accepted)
        return peer
    }

    /// Runs a client during the body, which gets its first connection.
    func withSession<Result>(
        _ options: MQTTOptions = testOptions(), isolation: isolated (any Actor)? = #isolation,
        _ body: (MQTTClient, Record, BrokerPeer) async throws -> Result
    ) async throws -> Result {
        try await withClient(url, options, waits: false) { client, record in
            let peer = try await session()
            defer { peer.close() }
            try await eventually("connected: \(record.names)") { client.isConnected }
            return try await body(client, record, peer)
        }
    }
}

/// One connection of a scripted broker. Use it from one task.
final class BrokerPeer: @unchecked Sendable {
    // Unchecked: a test may pass the peer on, but never uses it in two tasks at once.
    struct Packet: Equatable {
        let first: UInt8
        let body: [UInt8]
        /// Of a PUBLISH with QoS 1.
        var identifier: [UInt8] {
            let start = 2 + Int(body[0]) << 8 + Int(body[1])
            return Array(body[start..<start + 2])
        }
        /// Of a PUBLISH.
        var topic: String { String(decoding: body[2..<2 + Int(body[0]) << 8 + Int(body[1])], as: UTF8.self) }
    }

    static let accepted: [UInt8] = [0x20, 2, 0, 0]

    private let socket: RawSocket
    private var buffer: [UInt8] = []
    private var start = 0

    init(_ socket: RawSocket) { self.socket = socket }

    func write(_ bytes: [UInt8]) throws { try socket.write(bytes) }

    /// Ends both directions.
    func close() { socket.closeOutput() }

    /// Waits for the client's end of the connection.
    func readToEnd() async throws { _ = try await socket.readToEnd() }

    /// Reads so many bytes at a time, with a pause after each.
    func readSlowly(_ count: Int, times: Int, pause milliseconds: UInt32) async throws {
        try await socket.readSlowly(count, times: times, pause: milliseconds)
    }

    private func byte() async throws -> UInt8 {
        if start == buffer.count {
            buffer = try await socket.readSome()
            start = 0
            guard !buffer.isEmpty else { throw TestSupportError("the client has closed the connection") }
        }
        defer { start += 1 }
        return buffer[start]
    }

    /// The next packet of the client.
    func packet() async throws -> Packet {
        let first = try await byte()
        var (length, shift) = (0, 0)
        while true {
            let digit = try await byte()
            length |= Int(digit & 0x7F) << shift
            shift += 7
            if digit & 0x80 == 0 { break }
        }
        var body = Array(buffer[start...].prefix(length))
        start += body.count
        if body.count < length { body += try await socket.read(length - body.count) }
        return Packet(first: first, body: body)
    }

    /// The next packet that is no PINGREQ; those are answered.
    func message() async throws -> Packet {
        while true {
            let packet = try await packet()
            guard packet.first == 0xC0 else { return packet }
            try write([0xD0, 0])
        }
    }

    /// A PUBLISH.
    static func publish(_ topic: String, _ payload: [UInt8] = [], identifier: UInt16? = nil) -> [UInt8] {
        let name = Array(topic.utf8)
        let body =
            [UInt8(name.count >> 8), UInt8(name.count & 0xFF)] + name
            + (identifier.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) + payload
        precondition(body.count < 128)
        return [identifier == nil ? 0x30 : 0x32, UInt8(body.count)] + body
    }
}
