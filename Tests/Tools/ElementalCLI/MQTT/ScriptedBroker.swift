import TestSupport

/// A connection of a broker that sends exactly what a test wants. Use it from one task.
final class ScriptedBroker {
    /// The control packets of MQTT 3.1.1, as far as a client sends them.
    enum Kind: UInt8 {
        case connect = 1
        case publish = 3
        case publishAcknowledgement = 4
        case subscribe = 8
        case unsubscribe = 10
        case ping = 12
        case disconnect = 14
    }

    struct Packet {
        let kind: Kind
        let flags: UInt8
        let body: [UInt8]
    }

    static let accepted: [UInt8] = [0x20, 2, 0, 0]

    private let socket: RawSocket
    private var buffer: [UInt8] = []

    init(_ socket: RawSocket) { self.socket = socket }

    func write(_ bytes: [UInt8]) throws { try socket.write(bytes) }

    /// The next packet.
    func packet() async throws -> Packet {
        while true {
            if let packet = try take() { return packet }
            let bytes = try await socket.readSome()
            guard !bytes.isEmpty else { throw RawSocket.Failure(text: "the client closed the connection") }
            buffer += bytes
        }
    }

    /// Answers as a broker does, until the client has subscribed and published so much.
    func serve(until isEnough: (_ published: [String], _ subscriptionCount: Int) -> Bool) async throws {
        var (published, subscriptionCount) = ([String](), 0)
        while !isEnough(published, subscriptionCount) {
            let packet = try await packet()
            switch packet.kind {
            case .connect: try write(Self.accepted)
            case .subscribe:
                subscriptionCount += 1
                try write([0x90] + Self.length(2 + Self.filterCount(packet.body)) + packet.body[..<2])
                try write([UInt8](repeating: 1, count: Self.filterCount(packet.body)))
            case .unsubscribe: try write([0xB0, 2] + packet.body[..<2])
            case .publish:
                let length = Int(packet.body[0]) << 8 | Int(packet.body[1])
                published.append(String(decoding: packet.body[2..<2 + length], as: UTF8.self))
                if packet.flags & 6 != 0 { try write([0x40, 2] + packet.body[(2 + length)...(3 + length)]) }
            case .ping: try write([0xD0, 0])
            case .publishAcknowledgement: break
            case .disconnect: throw RawSocket.Failure(text: "the client said goodbye")
            }
        }
    }

    /// A message to the client.
    static func message(_ topic: String, _ payload: [UInt8], flags: UInt8 = 0, identifier: UInt16 = 1) -> [UInt8] {
        var body = [UInt8(topic.utf8.count >> 8), UInt8(topic.utf8.count & 0xFF)] + Array(topic.utf8)
        if flags & 6 != 0 { body += [UInt8(identifier >> 8), UInt8(identifier & 0xFF)] }
        return [0x30 | flags] + length(body.count + payload.count) + body + payload
    }

    /// A length as MQTT writes it: seven bits a byte, the lowest first.
    static func length(_ count: Int) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), count)
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }

    private static func filterCount(_ body: [UInt8]) -> Int {
        var (count, index) = (0, 2)
        while index + 1 < body.count {
            index += 3 + (Int(body[index]) << 8 | Int(body[index + 1]))
            count += 1
        }
        return count
    }

    private func take() throws -> Packet? {
        var (length, shift, index) = (0, 0, 1)
        while true {
            guard index < buffer.count else { return nil }
            length |= Int(buffer[index] & 0x7F) << shift
            shift += 7
            index += 1
            if buffer[index - 1] & 0x80 == 0 { break }
        }
        guard buffer.count >= index + length else { return nil }
        guard let kind = Kind(rawValue: buffer[0] >> 4) else {
            throw TestSupportError("the client sent a packet of kind \(buffer[0] >> 4)")
        }
        defer { buffer.removeFirst(index + length) }
        return Packet(kind: kind, flags: buffer[0] & 0xF, body: Array(buffer[index..<index + length]))
    }
}
