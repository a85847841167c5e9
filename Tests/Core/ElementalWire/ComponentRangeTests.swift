import ElementalWire
import Testing

/// A range that holds for each component of a vector.
struct ComponentRangeTests {
    private static let pad = Element<Vector2>(1, "P", range: 0...0.5)
    /// The element's entry without its size and its range.
    private static let entry: [UInt8] = [1, 14, 0b1100, 1, 80, 0]
    private static let bounds: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xE0, 0x3F]

    private static func read(_ entry: [UInt8]) throws -> ElementDefinition {
        try ElementCatalogue(bytes: [1, 1, UInt8(entry.count), 0] + entry)[0]
    }

    @Test
    func aVectorIsAllowedIfEachComponentIs() {
        let element = Element<Vector3>(1, "Aim", range: -1...1)
        let whole = Element<Vector4>(1, "Gains", range: 0...1)
        #expect(element.allows([-1, 0, 1]) && whole.allows([0, 0, 1, 1]) && !whole.allows([0, 0, 1, 2]))
        for index in 0..<3 {
            for wrong in [1.5, -1.5, .nan, .infinity] as [Float] {
                var vector = Vector3(-1, 0, 1)
                vector[index] = wrong
                #expect(!element.allows(vector) && !element.allows(ElementValue.float3(vector)), "\(vector)")
            }
        }
        #expect(element.allows(ElementValue.float3([-1, 0, 1])) && !element.allows(ElementValue.float2([0, 0])))
        #expect(Element<Vector2>(1, "Free").allows([.nan, .infinity]))
    }

    @Test
    func vectorsHaveARangeAndNoStep() throws {
        let defined = try ElementDefinition(id: 1, name: "P", type: .float2, range: 0...0.5)
        #expect(defined == Self.pad && defined.range == 0...0.5 && defined.rangeText == "0...0.5")
        #expect(Element<Vector2>(1, "P", range: nil).range == nil)
        for (type, range, step) in [
            (.float4x4, 0...1, nil), (.string, 0...1, nil), (.float3, 0...1, 0.5), (.float3, 0...Double.infinity, nil),
        ] as [(ElementType, ClosedRange<Double>, Double?)] {
            #expect(throws: WireError.self) {
                try ElementDefinition(id: 1, name: "P", type: type, range: range, step: step)
            }
        }
    }

    @Test("the bytes are those of the documentation's page on the wire")
    func bytes() throws {
        #expect(try ElementCatalogue([Self.pad]).wireBytes == [1, 1, 24, 0] + Self.entry + [1, 16] + Self.bounds)
        #expect(try ElementCatalogue([Element<Vector2>(1, "P")]).wireBytes == [1, 1, 6, 0] + Self.entry)
        let all: ElementCatalogue = [
            Self.pad, Element<Float>(2, "A", range: 0...1, step: 0.5), Element<Vector3>(3, "B", range: -1...1),
            Element<Vector4>(4, "C", unit: "m", range: -1...1, access: .read, latest: true), Element<Vector4>(5, "D"),
        ]
        #expect(try ElementCatalogue(bytes: all.wireBytes) == all)
    }

    @Test("a part of a catalogue is the same bytes, wherever it begins")
    func parts() throws {
        let catalogue = try ElementCatalogue([Self.pad, Element<Bool>(2, "A")])
        let bytes = catalogue.wireBytes
        for offset in bytes.indices {
            var part: [UInt8] = [0, 0, 0]
            let count = part.withUnsafeMutableBytes { catalogue.copyWireBytes(from: offset, to: $0) }
            #expect(part.prefix(count).elementsEqual(bytes[offset...].prefix(3)))
        }
    }

    @Test("other extensions, and what is behind the last whole one, are ignored")
    func others() throws {
        let whole = [1, 16] + Self.bounds
        for extensions in [
            whole, [9, 2, 1, 16] + whole, whole + [7], whole + [9, 5, 1, 2], [9, 0] + whole,
            [1, 16] + [UInt8](repeating: 0, count: 16) + whole,
        ] as [[UInt8]] {
            #expect(try Self.read(Self.entry + extensions) == Self.pad, "\(extensions)")
        }
        for extensions in [[], [1], whole.dropLast(), [9, 32] + whole] as [[UInt8]] {
            #expect(try Self.read(Self.entry + extensions) == Element<Vector2>(1, "P"), "\(extensions)")
        }
    }

    @Test("types that are no vectors ignore it, and so does a vector with choices, which nobody can read")
    func otherTypes() throws {
        let extensions = [1, 16] + Self.bounds
        for (type, flags) in [(9, 0b1100), (17, 0b1100), (11, 0b1100), (14, 0b100_1100)] as [(UInt8, UInt8)] {
            #expect(try Self.read([1, type, flags, 1, 80, 0] + extensions).range == nil, "type \(type)")
        }
        let choices: [UInt8] = [1, 11, 0b100_1100, 1, 80, 0, 1, 1, 120]
        #expect(try Self.read(choices + extensions).choices.map(\.name) == ["x"])
    }

    @Test
    func aWrongRangeMakesTheCatalogueInvalid() {
        func doubles(_ numbers: Double...) -> [UInt8] {
            numbers.flatMap { number in withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
        }
        let (plain, flagged) = (Self.entry, [1, 14, 0b1_1100, 1, 80, 0] as [UInt8])
        for entry in [
            plain + [1, 0], plain + [1, 15] + Self.bounds.dropLast(), plain + [1, 17] + Self.bounds + [0],
            plain + [1, 16] + doubles(1, 0), plain + [1, 16] + doubles(.nan, 0),
            plain + [1, 16] + doubles(0, .infinity), flagged + doubles(0, 1),
        ] as [[UInt8]] {
            let error = #expect(throws: WireError.self, "\(entry)") { _ = try Self.read(entry) }
            #expect(error?.code == .invalidCatalogue && error?.message.contains("P") == true)
        }
    }
}
