import Foundation

/// An MQTT broker that sends exactly what a test scripts.
public final class ScriptedBroker: Sendable {
    private let listener: RawSocket
    /// The port it listens on, at 127.0.0.1.
    public let port: Int

    /// - Parameter receiveBuffer: the size of the system's receive buffer of a connection; the default if `nil`.
    public init(receiveBuffer: Int32? = nil) throws {
        (listener, port) = try RawSocket.listen(receiveBuffer: receiveBuffer)
    }

    /// The address for clients.
    public var url: String { "mqtt://127.0.0.1:\(port)" }

    /// The next connection, of which nothing is read.
    public func accept() async throws -> BrokerPeer { BrokerPeer(try await listener.accept()) }

    /// The next connection, whose CONNECT gets an answer: its session.
    public func session(_ answer: [UInt8] = BrokerPeer.accepted) async throws -> BrokerPeer {
        let peer = try await accept()
        let connect = try await peer.packet()
        guard connect.kind == .connect else { throw TestSupportError("no CONNECT but \(connect)") }
        try peer.write(answer)
        return peer
    }
}

/// One connection of a scripted broker. Use it from one task.
public final class BrokerPeer: @unchecked Sendable {
    // Unchecked: a test may pass the peer on, but never uses it in two tasks at once.
    private let socket: RawSocket
    private var buffer: [UInt8] = []
    private var start = 0

    init(_ socket: RawSocket) { self.socket = socket }

    public func write(_ bytes: [UInt8]) throws { try socket.write(bytes) }

    public func close() { socket.closeOutput() }

    public func readToEnd() async throws { _ = try await socket.readToEnd() }

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
    public func packet() async throws -> MQTTPacket {
        let first = try await byte()
        var digits: [UInt8] = []
        repeat { digits.append(try await byte()) } while digits[digits.count - 1] & 0x80 != 0
        let length = MQTTPacket.length(of: digits)
        var body = Array(buffer[start...].prefix(length))
        start += body.count
        if body.count < length { body += try await socket.read(length - body.count) }
        return MQTTPacket(first: first, body: body)
    }

    /// The next packet that is no PINGREQ; those are answered.
    public func message() async throws -> MQTTPacket {
        while true {
            let packet = try await packet()
            guard packet.kind == .ping else { return packet }
            try write(MQTTPacket.pingResponse)
        }
    }

    /// Answers as a broker does, until the client has subscribed and published enough.
    ///
    /// - Parameter isEnough: gets the topics that were published and the filters that were subscribed to, in order.
    public func serve(until isEnough: (_ published: [String], _ subscribed: [String]) -> Bool) async throws {
        var (published, subscribed) = ([String](), [String]())
        while !isEnough(published, subscribed) {
            let packet = try await message()
            switch packet.kind {
            case .connect: try write(Self.accepted)
            case .subscribe:
                subscribed += packet.filters
                let count = packet.filters.count
                try write(
                    [0x90] + MQTTPacket.length(2 + count) + packet.body[..<2] + [UInt8](repeating: 1, count: count))
            case .unsubscribe: try write([0xB0, 2] + packet.body[..<2])
            case .publish:
                published.append(packet.topic)
                if packet.first & 6 != 0 { try write([0x40, 2] + packet.identifier) }
            case .disconnect: throw TestSupportError("the client said goodbye")
            case .publishAcknowledgement, .ping, nil: break
            }
        }
    }

    public static let accepted: [UInt8] = [0x20, 2, 0, 0]

    /// A PUBLISH to the client, with QoS 1 if it has an identifier.
    public static func publish(
        _ topic: String, _ payload: [UInt8] = [], identifier: UInt16? = nil, isDuplicate: Bool = false
    ) -> [UInt8] {
        let name = Array(topic.utf8)
        let number = identifier.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
        let body = [UInt8(name.count >> 8), UInt8(name.count & 0xFF)] + name + number + payload
        let first: UInt8 = (identifier == nil ? 0x30 : 0x32) | (isDuplicate ? 8 : 0)
        return [first] + MQTTPacket.length(body.count) + body
    }
}

/// A control packet of MQTT 3.1.1.
public struct MQTTPacket: Equatable, Sendable {
    public enum Kind: UInt8, Sendable {
        case connect = 1
        case publish = 3
        case publishAcknowledgement = 4
        case subscribe = 8
        case unsubscribe = 10
        case ping = 12
        case disconnect = 14
    }

    /// The kind and the flags.
    public let first: UInt8
    public let body: [UInt8]

    public init(first: UInt8, body: [UInt8] = []) {
        self.first = first
        self.body = body
    }

    public var kind: Kind? { Kind(rawValue: first >> 4) }

    private var topicLength: Int { Int(body[0]) << 8 + Int(body[1]) }
    public var topic: String { String(decoding: body[2..<2 + topicLength], as: UTF8.self) }
    public var identifier: [UInt8] { Array(body[2 + topicLength..<4 + topicLength]) }

    fileprivate var filters: [String] {
        var (filters, index) = ([String](), 2)
        while index + 1 < body.count {
            let end = index + 2 + (Int(body[index]) << 8 | Int(body[index + 1]))
            filters.append(String(decoding: body[index + 2..<end], as: UTF8.self))
            index = end + 1
        }
        return filters
    }

    public static let pingResponse: [UInt8] = [0xD0, 0]

    /// A length as MQTT writes it: seven bits a byte, the lowest first.
    static func length(_ count: Int) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), count)
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }

    fileprivate static func length(of digits: some Collection<UInt8>) -> Int {
        digits.reversed().reduce(0) { $0 << 7 | Int($1 & 0x7F) }
    }

    /// The packets in the bytes that a client sent, which end with a complete one.
    public static func packets(in bytes: [UInt8]) -> [MQTTPacket] {
        var (packets, rest) = ([MQTTPacket](), bytes[...])
        while let first = rest.popFirst() {
            let digits = rest.prefix(rest.prefix { $0 & 0x80 != 0 }.count + 1)
            rest = rest.dropFirst(digits.count)
            let length = length(of: digits)
            packets.append(MQTTPacket(first: first, body: Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return packets
    }
}
