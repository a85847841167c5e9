import Elemental
import Foundation
import NIOCore
import Testing

@testable import MQTTBridge

/// Values as payloads, and payloads as values.
struct PayloadTests {
    private static func element(
        _ type: ElementType, range: ClosedRange<Double>? = nil, choices: [ElementChoice] = []
    ) throws -> ElementDefinition {
        try ElementDefinition(id: 1, name: "Element", type: type, range: range, choices: choices)
    }

    private static func text(_ value: ElementValue, isForHomeAssistant: Bool = true) throws -> String {
        String(buffer: value.payload(of: try element(value.type), isForHomeAssistant: isForHomeAssistant))
    }

    private static func value(
        _ text: String, _ element: ElementDefinition, component: Int? = nil, current: ElementValue? = nil
    ) throws -> ElementValue {
        try Command(payload: ByteBuffer(string: text), component: component).value(of: element, current: current)
    }

    private static let both: [ElementValue] = [
        .int8(-128), .uint8(255), .int16(-32768), .uint16(65535), .int32(.min), .uint32(.max), .int64(.min),
        .int64(9_007_199_254_740_993), .uint64(.max), .float(0.7), .float(1e-7), .float(-.greatestFiniteMagnitude),
        .double(0.1), .double(.leastNonzeroMagnitude), .string(""), .string("Zürich\n\u{1F98A}"),
        .string(String(repeating: "x", count: 300)), .bool(true), .bool(false), .float2([0.1, -2]),
        .float3([1, 2.5, -3e10]), .float4([1, 2, 3, 4]), .data(Data()), .data(Data([0, 255, 10, 13])),
        .float4x4(Matrix4x4((0..<16).map { Float($0) })),
    ]

    @Test(arguments: both)
    func everyTypeIsReadBack(value: ElementValue) throws {
        let element = try Self.element(value.type)
        for isForHomeAssistant in [true, false] {
            let payload = value.payload(of: element, isForHomeAssistant: isForHomeAssistant)
            #expect(try Command(payload: payload).value(of: element, current: nil) == value)
        }
    }

    @Test
    func numbersAreWrittenAsTheirTypeHasThem() throws {
        // As a double it is 0.699999988079071, as text of it 0.7000000476837158 elsewhere: more than a maximum of 0.7.
        #expect(try Self.text(.float(0.7)) == "0.7")
        #expect(try Self.text(.uint64(.max)) == "18446744073709551615")
        #expect(try Self.text(.float3([0.1, -0.2, 3])) == "[0.1,-0.2,3.0]")
        #expect(try Self.text(.bool(true)) == "true")
        #expect(try Self.text(.float(.nan)) == "None")
        #expect(try Self.text(.double(-.infinity)) == "None")
        #expect(try Self.text(.double(-.infinity), isForHomeAssistant: false) == "-inf")
        #expect(try Self.text(.float2([.nan, 1])) == "[null,1.0]")
    }

    @Test(arguments: [
        ("5.0", ElementValue.uint8(5)), ("1e2", .uint8(100)), (" 7 ", .uint8(7)), ("0x10", .uint8(16)),
        ("1e-07", .float(1e-7)), ("18446744073709551615", .uint64(.max)), ("9007199254740992", .int64(1 << 53)),
        ("21.11111111111111", .uint8(21)), ("9007199254740993.0", .uint64(9_007_199_254_740_993)),
        ("18446744073709551614.5", .uint64(.max)), ("-9223372036854775808.4", .int64(.min)), ("-0.4", .uint8(0)),
        ("0.5", .int32(1)), ("-2.5", .int8(-3)), ("25449e-2", .uint8(254)), (".04e2", .uint8(4)),
        ("1e-99999999999999999999", .int8(0)), ("0e99999999999999999999", .int8(0)),
        ("ON", .bool(true)), ("off", .bool(false)), ("1", .bool(true)), ("[0.5, 1]", .float2([0.5, 1])),
        ("0.5,1", .float2([0.5, 1])), ("7\n", .uint8(7)), ("off\r\n", .bool(false)), ("[0.5,1]\n", .float2([0.5, 1])),
        ("1.5\r\n", .double(1.5)), ("a\r\n", .string("a\r\n")),
    ])
    func numbersComeAsOthersPrintThem(text: String, value: ElementValue) throws {
        #expect(try Self.value(text, Self.element(value.type)) == value)
    }

    @Test(arguments: [
        ("18446744073709551616", ElementType.uint64), ("1.8446744073709552e19", .uint64), ("-1", .uint64),
        ("1e300", .int64), ("256", .uint8), ("255.5", .uint8), ("-0.5", .uint8),
        ("18446744073709551615.5", .uint64), ("1e99999999999999999999", .int32), ("1e", .int8), (".", .int8),
        ("1.5.2", .int8), ("0x1p3", .int8), ("1 2", .int8), ("", .float), ("", .bool), ("", .uint8), ("None", .float),
        ("1e39", .float), ("maybe", .bool), ("[1,2,3]", .float2), ("[]", .float2), ("[1", .float2), ("nan", .int8),
        ("1_000", .int32), (String(repeating: "9", count: 2000), .double),
    ])
    func whatIsNoValueIsRefused(text: String, type: ElementType) throws {
        let element = try Self.element(type)
        #expect(throws: ElementalError.self) { try Self.value(text, element) }
    }

    @Test
    func whatIsOutOfRangeIsRefusedWithTheRange() throws {
        let element = try Self.element(.float, range: 0...1)
        #expect(try Self.value("1", element) == .float(1))
        let error = #expect(throws: ElementalError.self) { try Self.value("1.5", element) }
        #expect(error?.code == .outOfRange && error?.message == "the value is outside the range 0...1")
        #expect(throws: ElementalError.self) { try Self.value("nan", element) }
    }

    @Test
    func invalidUTF8IsNoText() throws {
        let element = try Self.element(.string)
        let command = Command(payload: ByteBuffer(bytes: [0x61, 0xFF, 0x62]))
        #expect(throws: ElementalError.self) { try command.value(of: element, current: nil) }
    }

    @Test
    func choicesAreTheirNames() throws {
        let choices = [ElementChoice(.uint8(0), "off"), ElementChoice(.uint8(7), "light blue")]
        let element = try Self.element(.uint8, choices: choices)
        func text(_ value: ElementValue) -> String {
            String(buffer: value.payload(of: element, isForHomeAssistant: true))
        }
        #expect(text(.uint8(7)) == "light blue")
        #expect(text(.uint8(9)) == "9")
        #expect(try Self.value("Light Blue", element) == .uint8(7))
        #expect(try Self.value("7", element) == .uint8(7))
        #expect(try Self.value("off\r\n", element) == .uint8(0))
        #expect(throws: ElementalError.self) { try Self.value("red", element) }
        #expect(throws: ElementalError.self) { try Self.value("9", element) }
    }

    @Test
    func oneComponentIsSetAndTheOthersStay() throws {
        let element = try Self.element(.float3)
        let current = ElementValue.float3([1, 2, 3])
        #expect(try Self.value("9.5", element, component: 1, current: current) == .float3([1, 9.5, 3]))
        #expect(throws: ElementalError.self) { try Self.value("4", element, component: 0) }
        #expect(throws: ElementalError.self) { try Self.value("4", element, component: 3) }
        #expect(throws: ElementalError.self) { try Self.value("x", element, component: 0) }
        #expect(throws: ElementalError.self) { try Self.value("1", Self.element(.uint8), component: 0) }
    }

    @Test
    func picturesAreToldByTheirBeginning() {
        #expect(
            ElementValue.data(Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])).pictureType == "image/png")
        #expect(ElementValue.data(Data([0xFF, 0xD8, 0xFF, 0xE0])).pictureType == "image/jpeg")
        #expect(ElementValue.data(Data("GIF89a".utf8)).pictureType == "image/gif")
        #expect(ElementValue.data(Data([0x89, 0x50])).pictureType == nil)
        #expect(ElementValue.string("GIF89a").pictureType == nil)
    }
}
