import Elemental
import Foundation
import NIOCore
import OSC
import Testing

@testable import OSCBridge

struct ValueTests {
    private static func element(
        _ type: ElementType, _ range: ClosedRange<Double>? = nil, _ choices: [ElementChoice] = []
    ) throws -> ElementDefinition {
        try ElementDefinition(id: 1, name: "x", type: type, range: range, choices: choices)
    }

    /// What surfaces send, and what is set by it.
    static let coerced: [(ElementType, ClosedRange<Double>?, OSCArgument, ElementValue)] = [
        (.bool, nil, .float(1), .bool(true)), (.bool, nil, .float(0), .bool(false)),
        (.bool, nil, .float(0.5), .bool(true)), (.bool, nil, .int32(1), .bool(true)),
        (.bool, nil, .bool(true), .bool(true)), (.bool, nil, .impulse, .bool(true)),
        (.bool, nil, .string("off"), .bool(false)),
        (.int8, nil, .float(12.6), .int8(13)), (.int8, nil, .float(1000), .int8(127)),
        (.int8, nil, .float(-.infinity), .int8(-128)), (.uint8, nil, .int32(-1), .uint8(0)),
        (.uint8, nil, .bool(true), .uint8(1)), (.int16, -5...5, .int32(9), .int16(5)),
        (.int16, -4.5...4.5, .int32(9), .int16(4)), (.int16, -4.5...4.5, .int32(-9), .int16(-4)),
        (.uint32, nil, .float(.infinity), .uint32(.max)), (.uint32, nil, .color(0xFF00_00FF), .uint32(0xFF00_00FF)),
        (.int64, nil, .int64(.min), .int64(.min)), (.int64, nil, .double(1e300), .int64(.max)),
        (.uint64, nil, .timeTag(OSCTimeTag(rawValue: .max)), .uint64(.max)),
        (.uint64, nil, .string("18446744073709551615"), .uint64(.max)),
        (.uint64, nil, .string("9007199254740993.0"), .uint64(9_007_199_254_740_993)),
        (.uint8, nil, .string("21.11111111111111"), .uint8(21)), (.uint8, 0...9, .string("1e3"), .uint8(9)),
        (.int8, nil, .double(-2.5), .int8(-3)),
        (.float, nil, .int32(7), .float(7)), (.float, nil, .double(0.5), .float(0.5)),
        (.float, 0...1, .float(1.5), .float(1)), (.float, 0...1, .string("0.25"), .float(0.25)),
        (.float, nil, .float(-.infinity), .float(-.infinity)), (.float, nil, .bool(true), .float(1)),
        (.float, nil, .double(1e300), .float(.greatestFiniteMagnitude)),
        (.float, nil, .double(-1e300), .float(-.greatestFiniteMagnitude)), (.float, 0...1, .double(1e300), .float(1)),
        (.float, nil, .double(.infinity), .float(.infinity)), (.float, 0...1, .string("1.5"), .float(1)),
        (.float2, nil, .array([.double(-1e300), .double(1)]), .float2([-.greatestFiniteMagnitude, 1])),
        (.double, nil, .float(0.5), .double(0.5)), (.double, nil, .int64(1 << 53), .double(9_007_199_254_740_992)),
        (.string, nil, .string("ä"), .string("ä")), (.string, nil, .int32(5), .string("5")),
        (.string, nil, .symbol("s"), .string("s")), (.string, nil, .character(65), .string("A")),
        (.data, nil, .blob(ByteBuffer(bytes: [0, 1])), .data(Data([0, 1]))),
        (.data, nil, .string("a"), .data(Data([0x61]))),
        (.float4, nil, .color(0xFF00_00FF), .float4([1, 0, 0, 1])),
        (.float2, nil, .array([.float(1), .int32(2)]), .float2([1, 2])),
        (.float2, -0.5...1, .array([.float(-7), .double(1e300)]), .float2([-0.5, 1])),
    ]

    @Test(arguments: coerced.indices)
    func whatIsSetFollowsFromTheType(_ index: Int) throws {
        let (type, range, argument, value) = Self.coerced[index]
        #expect(try Self.element(type, range).value(oscArguments: [argument]) == value)
    }

    /// 0.7 as a float is more than 0.7 as a double.
    @Test
    func theEndsOfARangeAreReached() throws {
        for range in [-0.7...0.7, 0.1...0.3, -0.1...1e-46] {
            let element = try Self.element(.float, range)
            for end in [range.lowerBound, range.upperBound] {
                let value = try element.value(oscArguments: [.float(Float(end))])
                #expect(element.allows(value))
                #expect(abs((value.numericValue ?? .nan) - end) < 1e-6)
            }
        }
    }

    static let refused: [(ElementType, ClosedRange<Double>?, [OSCArgument])] = [
        (.int8, nil, [.float(.nan)]), (.float, 0...1, [.float(.nan)]), (.double, 0...1, [.double(.nan)]),
        (.float, 0...1, [.string("nan")]), (.int8, 0...1, [.string("nan")]), (.bool, nil, [.float(.nan)]),
        (.int8, nil, [.string("x")]), (.int8, nil, [.blob(ByteBuffer())]), (.float, nil, [.null]),
        (.float2, nil, [.float(1)]), (.float2, nil, [.float(1), .string("x")]), (.float, nil, [.float(1), .float(2)]),
        (.data, nil, [.float(1)]), (.string, nil, [.null]), (.string, nil, [.character(0xD800)]),
        (.string, nil, [.blob(ByteBuffer(bytes: [0xFF]))]), (.float, nil, [.array([.array([.float(1)])])]),
    ]

    @Test(arguments: refused.indices)
    func whatIsRefused(_ index: Int) throws {
        let (type, range, arguments) = Self.refused[index]
        #expect(throws: ElementalError.self) { try Self.element(type, range).value(oscArguments: arguments) }
    }

    @Test
    func choicesAreTakenByNameAndNumberAlone() throws {
        let element = try Self.element(
            .uint8, nil,
            [ElementChoice(.uint8(0), "Off"), ElementChoice(.uint8(3), "Heat")])
        #expect(try element.value(oscArguments: [.string("heat")]) == .uint8(3))
        #expect(try element.value(oscArguments: [.float(3)]) == .uint8(3))
        #expect(throws: ElementalError.self) { try element.value(oscArguments: [.float(2)]) }
    }

    /// What is told of a value sets the element to that value.
    @Test
    func valuesComeBackAsTheyWere() throws {
        let values: [ElementValue] = [
            .int8(.min), .uint8(.max), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max), .int64(.min),
            .int64(.max), .uint64(.max), .uint64(5), .float(.leastNonzeroMagnitude), .float(.greatestFiniteMagnitude),
            .float(-.infinity), .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude), .string(""),
            .string("Ü🎹"), .data(Data()), .data(Data([0, 255])), .bool(true), .bool(false), .float2([1, -2]),
            .float3([1, 2, 3]), .float4([1, 2, 3, 4]), .float4x4(.identity),
        ]
        for value in values {
            let element = try Self.element(value.type)
            var bytes = ByteBuffer()
            bytes.writeOSC(OSCMessage("/x", try element.oscArguments(value)))
            guard case .message(let message) = try OSCPacket(reading: bytes) else {
                Issue.record("no message")
                continue
            }
            #expect(try element.value(oscArguments: message.arguments) == value)
        }
        #expect(throws: ElementalError.self) { try Self.element(.string).oscArguments(.string("a\0b")) }
    }
}
