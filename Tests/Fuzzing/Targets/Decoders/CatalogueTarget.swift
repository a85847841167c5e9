import ElementalWire

/// A catalogue that can be read can be written and read again, and is the same.
enum CatalogueTarget: FuzzTarget {
    static let name = "catalogue"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        [SessionElements.all.wireBytes]
            + (0...2).compactMap { try? ElementCatalogue(Array(SessionElements.all.suffix($0))).wireBytes }
            + [choices.wireBytes, numbers.wireBytes] + invalid
    }

    /// A range smaller than any usual step, a step that is no short number in binary, the greatest bounds, a range of
    /// components.
    private static let numbers: ElementCatalogue = [
        Element<Float>(1, "Fine", range: 0...0.0001), Element<Float>(2, "Step", range: 0...1, step: 0.05),
        Element<UInt64>(3, "Far", range: 0...(.max)), Element<UInt8>(4, "Whole", range: 0...1),
        Element<Vector3>(5, "Aim", range: -1...1),
    ]

    private static let choices: ElementCatalogue = [
        Element<UInt8>(1, "Mode", range: 0...2, choices: [0: "off", 1: "heat", 2: "cool"]),
        Element<Int64>(2, "Far", choices: [.min: "left", .max: "right"]),
        Element<String>(3, "Speed", choices: ["slow", "fast"]),
    ]

    /// A step that is not a number, a range that is inverted or missing, one name and one identifier twice, a name that
    /// is not UTF-8, an entry that is cut off, a vector with the range of a number and with an inverted one of components.
    static let invalid: [[UInt8]] = {
        func entry(
            _ id: UInt8, _ name: [UInt8], _ flags: UInt8 = 0b1100, _ numbers: [Double] = [],
            type: ElementType = .float, extension: [UInt8] = []
        ) -> [UInt8] {
            var content: [UInt8] = [id, type.rawValue, flags, UInt8(name.count)]
            content += name + [0] + `extension`
            for number in numbers { withUnsafeBytes(of: number.bitPattern.littleEndian) { content += $0 } }
            return [UInt8(content.count), 0] + content
        }
        let (a, b) = (Array("A".utf8), Array("B".utf8))
        let catalogues: [[[UInt8]]] = [
            [entry(1, a, 0b101100, [.nan])], [entry(1, a, 0b011100, [1, 0])], [entry(1, a, 0b011100)],
            [entry(1, a), entry(2, a)], [entry(1, a), entry(1, b)], [entry(1, [0xFF])], [entry(1, a).dropLast()],
            [entry(1, a, 0b011100, [0, 1], type: .float2)],
            [entry(1, a, 0b1100, [1, 0], type: .float2, extension: [1, 16])],
        ]
        return catalogues.map { entries in [1, UInt8(entries.count)] + entries.flatMap { $0 } }
    }()

    static func run(_ input: UnsafeRawBufferPointer) {
        guard let catalogue = try? ElementCatalogue(wireBytes: input) else { return }
        let again = catalogue.wireBytes.withUnsafeBytes { try? ElementCatalogue(wireBytes: $0) }
        check(again == catalogue, "a catalogue that changes")
        for element in catalogue {
            for choice in element.choices { check(element.allows(choice.value), "a choice that is not allowed") }
            check(catalogue[id: element.id] == element, "element \(element.id) cannot be found")
            check(catalogue[element.name] == element, "element '\(element.name)' cannot be found")
        }
    }
}
