import TestSupport

/// A service that sends a hello and otherwise exactly the test's bytes.
final class ScriptedService: Sendable {
    struct Entry {
        var id: UInt8
        /// The code of the type: 9 is float, 11 string, 12 data.
        var type: UInt8 = 9
        var name = Array("Speed".utf8)
        /// Read, write and further flags.
        var flags: UInt8 = 0b1100
        var numbers: [Double] = []

        var bytes: [UInt8] {
            var content: [UInt8] = [id, type, flags, UInt8(name.count)]
            content += name
            content.append(0)
            for number in numbers { withUnsafeBytes(of: number.bitPattern.littleEndian) { content += $0 } }
            return withUnsafeBytes(of: UInt16(content.count).littleEndian) { Array($0) } + content
        }
    }

    let target: String
    private let listener: RawSocket

    init() throws {
        let (listener, port) = try RawSocket.listen()
        self.listener = listener
        target = "127.0.0.1:\(port)"
    }

    func accept(_ entries: [Entry]) async throws -> RawSocket {
        let socket = try await listener.accept()
        // Empty values, the catalogue, pings, pieces.
        let hello: [UInt8] = [1, 0b10111, 0, 0, 0, 0, 0]
        let catalogue = [1, UInt8(entries.count)] + entries.flatMap(\.bytes)
        try socket.write(Self.frame(-1, [0]) + Self.frame(-4, hello) + Self.frame(-5, catalogue))
        return socket
    }

    static func frame(_ id: Int8, _ value: [UInt8]) -> [UInt8] {
        [UInt8(bitPattern: id)] + littleEndian(value.count) + value
    }

    static func piece(_ id: UInt8, _ bytes: [UInt8], at offset: Int, of total: Int) -> [UInt8] {
        frame(-8, [id] + littleEndian(total) + littleEndian(offset) + bytes)
    }

    static func littleEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).littleEndian) { Array($0) }
    }
}
