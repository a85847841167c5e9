import ElementalWire
import Testing
import WireVectors

struct ElementValueTests {
    @Test(arguments: [
        ("int8", "-128"), ("uint8", "255"), ("int16", "-32768"), ("uint32", "0xff"), ("int64", "-9223372036854775808"),
        ("uint64", "18446744073709551615"), ("float", "0.1"), ("double", "-1e300"), ("string", ""),
        ("string", "héllo = 1"),
        ("data", ""), ("data", "00ff10"), ("bool", "on"), ("float2", "1, 2"), ("float3", "1,-2,3.5"),
        ("float4", "0,0,0,1"),
    ])
    func textIsReadAndWritten(_ name: String, _ text: String) throws {
        let type = try #require(ElementType(name: name))
        let value = try ElementValue(text: text, type: type)
        #expect(value.type == type)
        #expect(try ElementValue(text: value.description, type: type) == value)
    }

    @Test("bytes of a wrong length and invalid texts are rejected")
    func wrongBytesAreNoValue() {
        for type in ElementType.allCases {
            guard let count = type.fixedByteCount else { continue }
            for wrong in [0, count - 1, count + 1] where wrong != count {
                let bytes = [UInt8](repeating: 0, count: wrong)
                #expect(
                    bytes.withUnsafeBytes { ElementValue(wireBytes: $0, type: type) } == nil,
                    "\(type) of \(wrong) bytes")
            }
        }
        #expect([2].withUnsafeBytes { ElementValue(wireBytes: $0, type: .bool) } == nil)
        #expect(([0xff, 0xfe] as [UInt8]).withUnsafeBytes { ElementValue(wireBytes: $0, type: .string) } == nil)
    }

    @Test("what each type's row of the table says is what its values do")
    func rows() throws {
        for echo in WireVectors.recorded.tcpEchoes {
            let type = try #require(ElementType(name: echo.type))
            let bytes = Array(echo.bytes.dropFirst(Envelope.streamByteCount))
            let value = try #require(bytes.withUnsafeBytes { ElementValue(wireBytes: $0, type: type) })
            #expect(value.type == type && type.name == echo.type && "\(type)" == echo.type)
            if let count = type.fixedByteCount { #expect(count == bytes.count) }
            #expect(bytes.withUnsafeBytes { type.number($0) } == value.numericValue)
            #expect(type.isNumeric == (value.numericValue != nil))
            #expect(type.isInteger == echo.type.contains("int"))
            #expect(try ElementValue(text: value.description, type: type) == value)
        }
        #expect(ElementType.allCases.filter { $0.fixedByteCount == nil } == [.string, .data])
        #expect(ElementType.allCases.filter(\.takesChoices).count == 9)
    }

    struct Pose: Codable, Equatable, Sendable {
        var x: Double
        var label: String
    }

    @Test
    func codableValuesTravelAsJSON() throws {
        let json = try JSON(Pose(x: 1.5, label: "é"))
        let bytes = json.written
        #expect(bytes.withUnsafeBytes { JSON<Pose>(wireBytes: $0) }?.value == Pose(x: 1.5, label: "é"))
        #expect(JSON<Pose>.elementType == .data)
        #expect([UInt8]("{}".utf8).withUnsafeBytes { JSON<Pose>(wireBytes: $0) } == nil)
    }

    @Test
    func helloSurvivesTheWireAndIgnoresWhatALaterVersionAdds() throws {
        let hello = Hello(features: [.ping, .wantsCatalogue], udpPort: 54321)
        #expect((hello.wireBytes + [1, 2, 3]).withUnsafeBytes { Hello(wireBytes: $0) } == hello)
        #expect(hello.wireBytes.dropLast().withUnsafeBytes { Hello(wireBytes: $0) } == nil)
    }
}
