import Foundation
import NIOCore
import Testing

@testable import SignalR

struct MessagePackTests {
    struct Robot: Codable, Equatable {
        enum Mode: Int, Codable { case idle, driving }
        struct Wheel: Codable, Equatable {
            var speed: Float
            var isBraked: Bool?
        }
        var name: String
        var mode: Mode
        var wheels: [Wheel]
        var limits: [String: Double]
        var picture: Data
        var seen: Date
        var none: Int?
        var big: UInt64
    }

    private func encode<Value: Encodable>(_ value: Value) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        try MessagePackNode.encode(value, into: &buffer)
        return buffer
    }

    private func decode<Value: Decodable>(_ type: Value.Type = Value.self, _ hex: String) throws -> Value {
        try MessagePackValue.decode(type, from: ByteBuffer(hex: hex))
    }

    @Test
    func structuresComeBack() throws {
        let robot = Robot(
            name: "Rover", mode: .driving,
            wheels: [.init(speed: 0.5, isBraked: nil), .init(speed: -1, isBraked: true)],
            limits: ["a": 1, "b": -2.5], picture: Data([0, 255]), seen: Date(timeIntervalSince1970: 1_700_000_000.25),
            none: nil, big: .max)
        #expect(try MessagePackValue.decode(Robot.self, from: encode(robot)) == robot)
    }

    /// The shortest of the formats for each integer, as the specification gives them.
    @Test(arguments: [
        (0, "00"), (127, "7f"), (128, "cc80"), (255, "ccff"), (256, "cd0100"), (65535, "cdffff"), (65536, "ce00010000"),
        (4_294_967_295, "ceffffffff"), (4_294_967_296, "cf0000000100000000"), (-1, "ff"), (-32, "e0"), (-33, "d0df"),
        (-128, "d080"), (-129, "d1ff7f"), (-32768, "d18000"), (-32769, "d2ffff7fff"), (-2_147_483_648, "d280000000"),
        (-2_147_483_649, "d3ffffffff7fffffff"),
    ])
    func integers(_ value: Int, _ hex: String) throws {
        #expect(try encode(value).hex == hex)
        #expect(try decode(Int.self, hex) == value)
        #expect(try decode(HubValue.self, hex) == .integer(Int64(value)))
    }

    @Test
    func numbersOfOtherTypes() throws {
        #expect(try decode(UInt64.self, "cfffffffffffffffff") == .max)
        #expect(try encode(UInt64.max).hex == "cfffffffffffffffff")
        #expect(try encode(Float(1.5)).hex == "ca3fc00000")
        #expect(try encode(1.5).hex == "cb3ff8000000000000")
        #expect(try decode(Double.self, "ca3fc00000") == 1.5)
        #expect(try decode(Double.self, "2a") == 42)
        #expect(try decode(Int.self, "cb4045000000000000") == 42)
        #expect(throws: (any Error).self) { try decode(Int.self, "cb3ff8000000000000") }
        #expect(throws: (any Error).self) { try decode(Int8.self, "cc80") }
        #expect(throws: (any Error).self) { try decode(UInt8.self, "ff") }
        #expect(throws: (any Error).self) { try decode(Int.self, "cfffffffffffffffff") }
    }

    /// A value that would be changed to infinity is refused; infinity and numbers within the range are accepted.
    @Test(arguments: ["cb48078287f49c4a1d", "cbc8078287f49c4a1d"])
    func doublesBeyondAFloat(_ hex: String) throws {
        #expect(throws: DecodingError.self) { try decode(Float.self, hex) }
        #expect(abs(try decode(Double.self, hex)) > 1e38)
        #expect(try decode(Float.self, "cb7ff0000000000000") == .infinity)
        #expect(try decode(Float.self, "cb3fe0000000000000") == 0.5)
    }

    @Test(arguments: [0, 31, 32, 255, 256, 65535, 65536])
    func textsOfAnyLength(_ count: Int) throws {
        let text = String(repeating: "x", count: count)
        #expect(try MessagePackValue.decode(String.self, from: encode(text)) == text)
        let data = Data(text.utf8)
        #expect(try MessagePackValue.decode(Data.self, from: encode(data)) == data)
        #expect(try MessagePackValue.decode([UInt8].self, from: encode(Array(data))) == Array(data))
        let numbers = Array(repeating: 1, count: count)
        #expect(try MessagePackValue.decode([Int].self, from: encode(numbers)) == numbers)
    }

    @Test
    func keysThatAreNumbers() throws {
        #expect(try decode([Int: String].self, "8201a16102a162") == [1: "a", 2: "b"])
        #expect(try decode([String: Int].self, "81a13705") == ["7": 5])
    }

    @Test(arguments: [
        (0.0, "d6ff00000000"), (1.0, "d6ff00000001"), (1.5, "d7ff7735940000000001"),
        (-1.0, "c70cff00000000ffffffffffffffff"), (17_179_869_184.0, "c70cff000000000000000400000000"),
    ])
    func timestamps(_ seconds: Double, _ hex: String) throws {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(try encode(date).hex == hex)
        #expect(try decode(Date.self, hex) == date)
    }

    @Test
    func anyValue() throws {
        let value = HubValue.object([
            "a": .array([.null, .bool(true), .double(0.5), .string("x"), .data(Data([1]))]), "b": .object([:]),
        ])
        #expect(try MessagePackValue.decode(HubValue.self, from: encode(value)) == value)
    }

    @Test(arguments: [
        "", "c1", "a5616263", "da", "c4", "c405", "dd7fffffff", "df7fffffff", "dc0001", "81", "81a161", "cb00", "c7",
        "d6ff", "92c0", "c0c0", "a1ff",
    ])
    func hostileBytesAreErrors(_ hex: String) {
        #expect(throws: (any Error).self) { try decode(HubValue.self, hex) }
        #expect(throws: (any Error).self) { try decode([String].self, hex) }
        #expect(throws: (any Error).self) { try decode([String: Robot].self, hex) }
    }

    @Test
    func nestingHasALimit() throws {
        let deep = String(repeating: "91", count: 10_000) + "c0"
        #expect(throws: (any Error).self) { try decode(HubValue.self, deep) }
        var value = HubValue.null
        for _ in 0..<100 { value = .array([value]) }
        #expect(throws: (any Error).self) { try encode(value) }
        #expect(try decode(HubValue.self, String(repeating: "91", count: 50) + "c0") != .null)
    }
}
