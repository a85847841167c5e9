import ElementalWire
import Foundation
import Testing

/// Typed text becomes exactly its value, or an error.
struct ValueTextTests {
    @Test(
        "text that could be taken for another value than it says is refused",
        arguments: [
            // Blanks within a number.
            ("float2", "1 2,3"), ("float3", "1,2 2,3"), ("float", "1 2"), ("int8", "1 2"), ("float2", "1\u{A0}2,3"),
            // Finite numbers that do not fit.
            ("float", "1e39"), ("float", "-1e39"), ("double", "1e400"), ("double", "-1e400"), ("float2", "1,1e39"),
            ("float4", "0,0,0,-4e38"), ("float", "0x1p200"), ("float", "9" + String(repeating: "0", count: 60)),
            // Missing and additional parts of vectors.
            ("float2", "1,,2"), ("float2", "1,2,"), ("float2", ",1,2"), ("float3", "1,2"), ("float2", ""),
            ("float2", "1;2"),
            // A sign behind the 0x, digits that are not ASCII, separators.
            ("int8", "0x-5"), ("uint8", "0x+5"), ("int16", "-0x-5"), ("int8", "0x"), ("int8", "-"), ("int8", ""),
            ("int32", "1_000"), ("int32", "\u{0663}"), ("float", "\u{0663}"), ("float", "1_0"), ("double", "1,5"),
            ("float", "nan(1)"), ("float", "infinite"), ("float", ""), ("uint8", "1\u{301}"),
            // Data.
            ("data", "abc"), ("data", "0"), ("data", "00 ff"), ("data", "0x0"), ("data", "\u{FF10}\u{FF10}"),
            ("data", "g0"), ("data", "-1"),
            ("bool", ""), ("bool", "yess"), ("bool", "2"), ("bool", "01"), ("bool", "o n"),
            // What is no value of the type at all.
            ("int8", "128"), ("uint8", "-1"), ("uint8", "1.5"), ("float", "fast"), ("data", "zz"), ("float4x4", "1"),
        ])
    func ambiguousTextIsRefused(_ name: String, _ text: String) throws {
        let type = try #require(ElementType(name: name))
        let error = #expect(throws: WireError.self) { try ElementValue(text: text, type: type) }
        #expect(error?.code == .invalidText)
        #expect(error?.message.contains("give") == true)
    }

    @Test(
        arguments: [
            ("float2", " 1 ,\t2 ", ElementValue.float2(Vector2([1, 2]))), ("float", " 0.5 ", .float(0.5)),
            ("int8", " -0x80 ", .int8(-128)), ("uint8", "+5", .uint8(5)), ("uint8", "0XfF", .uint8(255)),
            ("float", "3.4028235e38", .float(.greatestFiniteMagnitude)), ("float", "0x10", .float(16)),
            ("double", "1e39", .double(1e39)), ("float", "inf", .float(.infinity)),
            ("double", "-Infinity", .double(-.infinity)),
            ("float2", "-inf,+inf", .float2(Vector2([-.infinity, .infinity]))),
            // A number that underflows is 0, the nearest float, as 0.1 becomes the nearest one too.
            ("float", "1e-60", .float(0)), ("bool", " On ", .bool(true)), ("data", " 0x00FF ", .data(Data([0, 255]))),
            ("string", " a ", .string(" a ")),
        ])
    func unambiguousTextIsRead(_ name: String, _ text: String, _ expected: ElementValue) throws {
        #expect(try ElementValue(text: text, type: try #require(ElementType(name: name))) == expected)
    }

    @Test
    func nanIsParsed() throws {
        guard case .float(let number) = try ElementValue(text: "NaN", type: .float) else {
            Issue.record("no float")
            return
        }
        #expect(number.isNaN)
    }

    @Test("an error message repeats only the beginning of a long text")
    func messagesAreShort() throws {
        for type in ElementType.allCases where type != .string {
            for text in [String(repeating: "1,", count: 500_000), "1" + String(repeating: "\u{301}", count: 500_000)] {
                let error = #expect(throws: WireError.self) { try ElementValue(text: text, type: type) }
                #expect((error?.message.utf8.count ?? 0) < 500)
            }
        }
    }
}
