import ElementalWire
import TestSupport
import Testing

/// Elements whose values are listed.
struct ElementChoicesTests {
    private static let mode = Element<UInt8>(1, "Mode", choices: [0: "off", 1: "heat", 7: "cool down"])
    private static let offset = Element<Int16>(2, "Offset", choices: [-300: "cold", 0: "even", 300: "warm"])
    private static let speed = Element<String>(3, "Speed", choices: ["slow", "fast"])
    private static let all: ElementCatalogue = [mode, offset, speed]

    @Test
    func aValueIsAllowedIfItIsAChoice() {
        #expect([0, 1, 7].allSatisfy { Self.mode.allows($0) })
        #expect(![2, 6, 8, 255].contains { Self.mode.allows($0) })
        #expect(Self.offset.allows(-300) && Self.offset.allows(0) && !Self.offset.allows(-1) && !Self.offset.allows(44))
        #expect(Self.speed.allows("fast") && !Self.speed.allows("Fast") && !Self.speed.allows("fas"))
        #expect(!Self.speed.allows("") && !Self.speed.allows(String(repeating: "fast", count: 1000)))
    }

    @Test
    func aValueOfRunTimeIsAllowedIfItIsAChoice() {
        #expect(Self.mode.allows(ElementValue.uint8(7)) && !Self.mode.allows(ElementValue.uint8(8)))
        #expect(!Self.mode.allows(ElementValue.int8(7)), "another type")
        #expect(Self.speed.allows(ElementValue.string("slow")) && !Self.speed.allows(ElementValue.string("slower")))
        #expect(Self.mode.allowsChoice([7]) && !Self.mode.allowsChoice([8]))
        let brightness = Element<Float>(4, "Brightness", range: 0...1)
        #expect(brightness.allows(ElementValue.float(1)) && !brightness.allows(ElementValue.float(1.5)))
    }

    @Test("every number of one byte, and the ends of eight")
    func manyNumbers() throws {
        let even = Element<Int8>(1, "Even", choices: ElementChoices((-64..<63).map { (Int8($0 * 2), "\($0)") }))
        for number in Int8.min...Int8.max { #expect(even.allows(number) == (number % 2 == 0 && number < 126)) }
        let ends: [UInt64] = [0, 1, 1 << 53, 1 << 53 + 1, .max]
        let wide = Element<UInt64>(1, "Wide", choices: ElementChoices(ends.map { ($0, "\($0)") }))
        for number in ends { #expect(wide.allows(number) && wide.allows(number &+ 2) == (number == .max)) }
        let read = try ElementCatalogue(bytes: ElementCatalogue([wide]).wireBytes)
        #expect(read[0].choices.map(\.value) == ends.map { .uint64($0) })
    }

    @Test
    func choicesKeepTheirOrder() {
        #expect(Self.mode.choices.map(\.name) == ["off", "heat", "cool down"])
        #expect(Self.offset.choices.map(\.value) == [.int16(-300), .int16(0), .int16(300)])
        #expect(Element<UInt8>(1, "Free").choices.isEmpty)
    }

    @Test
    func aDefinitionOfWrongChoicesIsAnErrorThatSaysWhatIsWrong() {
        let off = ElementChoice(.uint8(0), "off")
        func problem(
            _ choices: [ElementChoice], _ type: ElementType = .uint8, range: ClosedRange<Double>? = nil
        ) -> String {
            do {
                _ = try ElementDefinition(id: 1, name: "Mode", type: type, range: range, choices: choices)
                return ""
            } catch {
                #expect(error.code == .invalidDefinition && error.message.contains("Mode"))
                return error.message
            }
        }
        #expect(problem([ElementChoice(.float(0), "off")], .float).contains("allows no choices"))
        #expect(problem([ElementChoice(.int8(0), "off")]).contains("'off' is int8, not uint8"))
        #expect(problem([off, ElementChoice(.uint8(1), "off")]).contains("'off' is listed twice"))
        #expect(problem([off, ElementChoice(.uint8(0), "none")]).contains("number of another"))
        #expect(problem([ElementChoice(.uint8(0), "")]).contains("1 to 255"))
        #expect(problem([ElementChoice(.uint8(0), String(repeating: "a", count: 256))]).contains("1 to 255"))
        #expect(problem([ElementChoice(.string("a"), "b")], .string).contains("equal to its name"))
        #expect(problem([off], range: 1...2).contains("outside the range"))
        let many = (0..<256).map { ElementChoice(.uint16($0), "\($0)") }
        #expect(problem(many, .uint16).contains("at most 255"))
        let long = (0..<17).map {
            ElementChoice(String(repeating: "abcdefghijklmnopqrs".prefix($0 + 2).last!, count: 250))
        }
        #expect(problem(long, .string).contains("4096") && problem(Array(long.prefix(16)), .string).isEmpty)
    }

    // MARK: Enums

    private enum Mode: Int16, CaseIterable, ElementRepresentable {
        case off, heat
        case cool = 300
    }

    private enum Fan: String, CaseIterable, ElementRepresentable, CustomStringConvertible {
        case slow, fast = "very fast"

        var description: String { "not shown" }
    }

    private enum Season: UInt8, CaseIterable, ElementRepresentable, CustomStringConvertible {
        case summer, winter

        var description: String { self == .summer ? "Summer time" : "Winter time" }
    }

    @Test
    func theCasesOfAnEnumAreTheChoices() {
        let mode = Element<Mode>(1, "Mode", access: .read)
        #expect(mode == Element<Int16>(1, "Mode", choices: [0: "off", 1: "heat", 300: "cool"], access: .read))
        #expect(mode.allows(.cool) && mode.allows(ElementValue.int16(300)) && !mode.allows(ElementValue.int16(2)))
        #expect(Element<Fan>(2, "Fan") == Element<String>(2, "Fan", choices: ["slow", "very fast"]))
        #expect(Element<Season>(3, "Season").choices.map(\.name) == ["Summer time", "Winter time"])
    }

    @Test
    func anEnumTravelsAsItsRawValue() throws {
        #expect(Mode.cool.wireByteCount == 2)
        let bytes = Mode.cool.written
        #expect(bytes == [0x2c, 1])
        #expect(bytes.withUnsafeBytes { Mode(wireBytes: $0) } == .cool)
        #expect([2, 0].withUnsafeBytes { Mode(wireBytes: $0) } == nil, "no case")
        #expect(Fan.fast.elementValue == .string("very fast") && Fan(ElementValue.string("slow")) == .slow)
        #expect(Fan(ElementValue.string("fast")) == nil && Mode(ElementValue.uint8(1)) == nil)
    }

    // MARK: Text

    @Test(
        "a choice is typed by its name or number",
        arguments: [("heat", 1), ("HEAT", 1), ("cool down", 7), ("7", 7), ("0x1", 1), ("5", 5)] as [(String, UInt8)])
    func typed(_ text: String, _ number: UInt8) throws {
        #expect(try ElementValue(text: text, of: Self.mode) == .uint8(number))
    }

    @Test
    func aTextIsTypedInEitherCase() throws {
        #expect(try ElementValue(text: "Fast", of: Self.speed) == .string("fast"))
        #expect(try ElementValue(text: "0.5", of: Element<Float>(1, "Free")) == .float(0.5))
    }

    @Test
    func whatIsNoChoiceIsAnErrorThatTellsTheChoices() {
        let number = #expect(throws: WireError.self) { try ElementValue(text: "hot", of: Self.mode) }
        #expect(number?.code == .invalidText)
        #expect(
            number?.message == "'hot' is not one of its choices; give one of 'off' (0), 'heat' (1), 'cool down' (7)")
        let text = #expect(throws: WireError.self) { try ElementValue(text: "medium", of: Self.speed) }
        #expect(text?.message == "'medium' is not one of its choices; give one of 'slow', 'fast'")
        #expect(throws: WireError.self) {
            try ElementValue(text: String(repeating: "a", count: 1 << 20), of: Self.speed)
        }
    }

    @Test
    func aValueIsShownByItsName() {
        #expect(Self.mode.text(of: .uint8(7)) == "cool down" && Self.mode.text(of: .uint8(8)) == "8")
        #expect(Self.speed.text(of: .string("fast")) == "fast")
    }

    // MARK: The wire

    @Test
    func choicesSurviveTheWire() throws {
        let read = try ElementCatalogue(bytes: Self.all.wireBytes)
        #expect(read == Self.all && read[2].choices == Self.speed.choices)
        #expect(read[1].allows(ElementValue.int16(300)) && !read[1].allows(ElementValue.int16(299)))
    }

    @Test("the bytes are those of the documentation's page on the wire")
    func bytes() {
        let catalogue: ElementCatalogue = [
            Element<Int16>(2, "A", range: -1...1, choices: [-1: "no", 1: "yes"]),
            Element<String>(3, "B", choices: ["x", "yz"], access: .read),
        ]
        let range = [0, 0, 0, 0, 0, 0, 0xF0, 0xBF, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F] as [UInt8]
        let number: [UInt8] =
            [2, 3, 0b0101_1100, 1, 65, 0] + range + [2, 0xFF, 0xFF, 2, 110, 111, 1, 0, 3, 121, 101, 115]
        let text: [UInt8] = [3, 11, 0b0100_0100, 1, 66, 0, 2, 1, 120, 2, 121, 122]
        let expected: [UInt8] = [1, 2, UInt8(number.count), 0] + number + [UInt8(text.count), 0] + text
        #expect(catalogue.wireBytes == expected)
    }

    @Test("a catalogue without choices has the bytes that it had before there were any")
    func bytesWithout() {
        let catalogue: ElementCatalogue = [Element<UInt8>(8, "Level", unit: "m", range: 0...10, step: 2, latest: true)]
        let numbers: [UInt8] = [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x24, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x40,
        ]
        let expected: [UInt8] = [1, 1, 35, 0, 8, 2, 0b11_1110, 5] + Array("Level".utf8) + [1, 109] + numbers
        #expect(catalogue.wireBytes == expected)
    }

    @Test("a reader that knows no choices and no ranges of vectors skips them")
    func skipped() throws {
        let catalogue = try ElementCatalogue(
            [Element<Float>(0, "First", range: 0...1, step: 0.5) as ElementDefinition] + Self.all.elements
                + [Element<Vector2>(100, "Aim", range: -1...1), Element<Bool>(127, "Last", transport: .udp)])
        let read = try #require(EarlierCatalogueReader.read(catalogue.wireBytes))
        #expect(read.map(\.id) == [0, 1, 2, 3, 100, 127] && read.map(\.name) == catalogue.map(\.name))
        #expect(read.map(\.type) == catalogue.map(\.type.rawValue))
        #expect(read[0].numbers == [0, 1, 0.5] && read[1].numbers.isEmpty && read[4].numbers.isEmpty)
    }

    @Test("choices of a type that takes none are left out, the rest is read")
    func laterChoices() throws {
        var bytes = try ElementCatalogue([Element<Float>(1, "A"), Element<Bool>(2, "B")]).wireBytes
        #expect(bytes[6] == 0b1100 && bytes[5] == ElementType.float.rawValue)
        bytes[6] |= 1 << 6
        let read = try ElementCatalogue(bytes: bytes)
        #expect(read.count == 2 && read[0].choices.isEmpty)
    }

    @Test("every cut and every wrong choice is an error", arguments: 0..<6)
    func hostile(_ index: Int) throws {
        let good: [UInt8] = [3, 11, 0b0100_0100, 1, 66, 0, 2, 1, 120, 2, 121, 122]
        let entries: [[UInt8]] = [
            Array(good[..<6]), Array(good[..<10]),  // missing, cut off
            [3, 11, 0b0100_0100, 1, 66, 0, 0],  // none
            [3, 11, 0b0100_0100, 1, 66, 0, 2, 1, 120, 1, 120],  // one twice
            [3, 11, 0b0100_0100, 1, 66, 0, 1, 1, 0xFF],  // not UTF-8
            [3, 2, 0b0100_0100, 1, 66, 0, 2, 5, 1, 120, 5, 1, 121],  // one number twice
        ]
        func read(_ entry: [UInt8]) throws -> ElementCatalogue {
            try ElementCatalogue(bytes: [1, 1, UInt8(entry.count), 0] + entry)
        }
        #expect(try read(good)[0].choices.map(\.name) == ["x", "yz"])
        let error = #expect(throws: WireError.self) { _ = try read(entries[index]) }
        #expect(error?.code == .invalidCatalogue && error?.message.contains("B") == true)
    }

    @Test("the most and longest choices stay below the longest catalogue taken")
    func largest() throws {
        let names = (0..<16).map { index in
            String(UnicodeScalar(UInt8(97 + index))) + String(repeating: "x", count: 254)
        }
        let elements = try (0..<128).map { id in
            try ElementDefinition(
                id: id, name: "\(id)" + String(repeating: "n", count: 255 - "\(id)".count), type: .string,
                unit: String(repeating: "u", count: 255), choices: names.map { ElementChoice($0) })
        }
        let bytes = try ElementCatalogue(elements).wireBytes
        #expect(bytes.count < 595_458 && 595_458 < SystemElement.maximumCatalogueByteCount)
        #expect(try ElementCatalogue(bytes: bytes).elements == elements)
    }
}

/// Reads a catalogue as programs did before there were choices: unknown flags and what is behind the known fields of an
/// entry are skipped.
private enum EarlierCatalogueReader {
    struct Entry {
        var id: UInt8
        var type: UInt8
        var name: String
        var numbers: [Double]
    }

    static func read(_ bytes: [UInt8]) -> [Entry]? {
        guard bytes.count >= 2, bytes[0] == 1 else { return nil }
        var rest = bytes[2...]
        var entries: [Entry] = []
        for _ in 0..<bytes[1] {
            guard let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
            let size = Int(low) | Int(high) << 8
            guard rest.count >= size else { return nil }
            var entry = rest.prefix(size)
            rest = rest.dropFirst(size)
            guard let id = entry.popFirst(), let type = entry.popFirst(), let flags = entry.popFirst() else {
                return nil
            }
            let name = text(&entry)
            _ = text(&entry)
            let count = (flags & 1 << 4 != 0 ? 2 : 0) + (flags & 1 << 5 != 0 ? 1 : 0)
            let numbers = (0..<count).map { _ in
                defer { entry = entry.dropFirst(8) }
                return Array(entry.prefix(8)).withUnsafeBytes { Double(wireBytes: $0) ?? .nan }
            }
            entries.append(Entry(id: id, type: type, name: name, numbers: numbers))
        }
        return entries
    }

    private static func text(_ entry: inout ArraySlice<UInt8>) -> String {
        let count = Int(entry.popFirst() ?? 0)
        defer { entry = entry.dropFirst(count) }
        return String(decoding: entry.prefix(count), as: UTF8.self)
    }
}

extension ElementDefinition {
    fileprivate func allowsChoice(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { allowsChoice($0) } }
}
