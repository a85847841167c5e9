import Elemental
import Foundation
import NIOCore
import Testing

@testable import Dashboard

/// What pages may send, and nothing else.
struct PageRequestTests {
    @Test(arguments: [
        (#"{"t":"hello"}"#, PageRequest.hello(token: nil)),
        (#"{"t":"hello","token":"abc"}"#, .hello(token: "abc")),
        (#"{"t":"open","keys":[3,5,3]}"#, .open([3, 5])),
        (#"{"t":"list","on":true}"#, .list(true)),
        (
            #"{"t":"set","key":3,"id":1,"value":0.5,"n":12}"#,
            .set(service: 3, element: 1, .number(0.5), rest: nil, number: 12)
        ),
        (
            #"{"t":"set","key":3,"id":1,"value":true}"#,
            .set(service: 3, element: 1, .bool(true), rest: nil, number: nil)
        ),
        (
            #"{"t":"set","key":3,"id":1,"value":"on"}"#,
            .set(service: 3, element: 1, .text("on"), rest: nil, number: nil)
        ),
        (
            #"{"t":"set","key":3,"id":1,"value":[1,2]}"#,
            .set(service: 3, element: 1, .list([1, 2]), rest: nil, number: nil)
        ),
        (
            #"{"t":"set","key":3,"id":1,"value":true,"rest":false}"#,
            .set(service: 3, element: 1, .bool(true), rest: .bool(false), number: nil)
        ),
        (
            #"{"t":"grip","key":3,"id":1,"rest":[0,0],"n":2}"#,
            .grip(service: 3, element: 1, rest: .list([0, 0]), number: 2)
        ),
        (#"{"t":"grip","key":3,"id":1}"#, .grip(service: 3, element: 1, rest: nil, number: nil)),
        (
            #"{"t":"move","n":7,"v":[[3,1,[0.5,-1]],[4,2,true]]}"#,
            .move(
                [
                    .init(service: 3, element: 1, value: .list([0.5, -1])),
                    .init(service: 4, element: 2, value: .bool(true)),
                ], number: 7)
        ),
        (#"{"t":"rest"}"#, .rest), (#"{"t":"letGo"}"#, .letGo),
        (#"{"t":"pair","key":3,"code":"483291","n":13}"#, .pair(service: 3, code: "483291", name: nil, number: 13)),
        (
            #"{"t":"pair","key":3,"code":"483291","name":"Ada","n":13}"#,
            .pair(service: 3, code: "483291", name: "Ada", number: 13)
        ),
        (#"{"t":"past","key":3,"id":1,"seconds":86400}"#, .past(service: 3, element: 1, seconds: 86400)),
        (#"{"t":"ping","n":14}"#, .ping(14)),
    ])
    func whatPagesSend(_ text: String, _ request: PageRequest) {
        #expect(PageRequest(ByteBuffer(string: text)) == request)
    }

    @Test(arguments: [
        "", "{", "[]", "null", "7", #"{"t":"other"}"#, #"{"t":"list"}"#, #"{"t":"grip","key":3}"#,
        #"{"t":"grip","key":3,"id":-4}"#, #"{"t":"move","n":1}"#, #"{"t":"move","v":[]}"#,
        #"{"t":"move","n":1,"v":[[1,2]]}"#, #"{"t":"move","n":1,"v":["a"]}"#, #"{"keys":[1]}"#, #"{"t":"open"}"#,
        #"{"t":"open","keys":[-1]}"#,
        #"{"t":"open","keys":[4294967296]}"#, #"{"t":"set","key":3,"id":1}"#, #"{"t":"set","key":3,"id":-2,"value":1}"#,
        #"{"t":"set","key":3,"id":128,"value":1}"#, #"{"t":"set","key":3,"id":1,"value":{"a":1}}"#,
        #"{"t":"set","key":3,"id":1,"value":[[1]]}"#, #"{"t":"pair","key":3}"#, #"{"t":"pair","key":3,"code":7}"#,
        #"{"t":"past","key":3,"id":1}"#, #"{"t":"past","key":3,"id":1,"seconds":0}"#,
        #"{"t":"past","key":3,"id":1,"seconds":86401}"#, #"{"t":"past","key":3,"id":-1,"seconds":60}"#,
        #"{"t":7}"#, "\u{0}", #"{"t":"hello","token":{}}"#,
    ])
    func whatIsNone(_ text: String) {
        #expect(PageRequest(ByteBuffer(string: text)) == nil)
    }

    @Test
    func noPageOpensMoreServicesThanThereCanBe() {
        func open(_ count: Int) -> PageRequest? {
            let keys = (0..<count).map { "\($0)" }.joined(separator: ",")
            return PageRequest(ByteBuffer(string: #"{"t":"open","keys":[\#(keys)]}"#))
        }
        #expect(open(PageRequest.maximumOpenCount) != nil)
        #expect(open(PageRequest.maximumOpenCount + 1) == nil)
    }

    @Test
    func deepNestingIsNoMessage() {
        let nested = String(repeating: "[", count: 30_000)
        #expect(PageRequest(ByteBuffer(string: #"{"t":"set","key":1,"id":1,"value":"# + nested)) == nil)
    }

    @Test
    func valuesTakeTheTypeOfTheirElement() throws {
        func value(_ page: PageValue, _ element: ElementDefinition) throws -> ElementValue {
            try page.elementValue(of: element)
        }
        #expect(try value(.number(5), Element<UInt8>(1, "A")) == .uint8(5))
        #expect(try value(.number(0.5), Element<Float>(1, "A")) == .float(0.5))
        #expect(try value(.number(3), Element<Float>(1, "A")) == .float(3))
        #expect(try value(.bool(true), Element<Bool>(1, "A")) == .bool(true))
        #expect(try value(.text("on"), Element<String>(1, "A")) == .string("on"))
        #expect(try value(.list([1, 2.5]), Element<Vector2>(1, "A")) == .float2([1, 2.5]))
        #expect(
            try value(.text("18446744073709551615"), Element<UInt64>(1, "A")) == .uint64(18_446_744_073_709_551_615))
        #expect(throws: WireError.self) { _ = try value(.number(256), Element<UInt8>(1, "A")) }
        #expect(throws: WireError.self) { _ = try value(.number(0.5), Element<UInt8>(1, "A")) }
        #expect(throws: WireError.self) { _ = try value(.list([1]), Element<Vector2>(1, "A")) }
        #expect(throws: WireError.self) { _ = try value(.number(1), Element<String>(1, "A")) }
        #expect(throws: WireError.self) { _ = try value(.text("00"), Element<Data>(1, "A")) }
        #expect(throws: WireError.self) { _ = try value(.number(1e300), Element<Int64>(1, "A")) }
    }

    @Test
    func boundsGoToPagesAsTheirTypeHasThem() {
        let speed = Element<Float>(1, "Speed", range: 0.1...0.7, step: 0.05)
        let text = speed.definition.pageText(isSettable: true).text
        #expect(text.contains(#""range":[0.1,0.7],"step":0.05"#), "\(text)")
    }

    /// JavaScript's numbers have 53 bits, and JSON has no infinity.
    @Test
    func valuesGoToPagesInFull() {
        #expect(ElementValue.uint64(.max).pageText?.text == #""18446744073709551615""#)
        #expect(ElementValue.int64(.min).pageText?.text == #""-9223372036854775808""#)
        #expect(ElementValue.float(.infinity).pageText?.text == #""inf""#)
        #expect(ElementValue.double(.nan).pageText?.text == #""nan""#)
        #expect(ElementValue.float2([1, .nan]).pageText?.text == #"[1.0,"nan"]"#)
        #expect(ElementValue.string("a\"\u{202E}\n").pageText?.text == #""a\"\u202e\n""#)
        #expect(ElementValue.data(Data([1])).pageText == nil)
    }
}
