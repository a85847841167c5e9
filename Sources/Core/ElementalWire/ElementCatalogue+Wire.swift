extension ElementCatalogue {
    // The bits of an entry's flags byte.
    private static let udpFlag: UInt8 = 1 << 0
    private static let latestFlag: UInt8 = 1 << 1
    private static let readFlag: UInt8 = 1 << 2
    private static let writeFlag: UInt8 = 1 << 3
    private static let rangeFlag: UInt8 = 1 << 4
    private static let stepFlag: UInt8 = 1 << 5
    private static let choicesFlag: UInt8 = 1 << 6

    /// The version of the catalogue's form.
    static let formVersion: UInt8 = 1

    /// The catalogue as the system element ``SystemElement/catalogue`` carries it.
    ///
    /// `form UInt8 (1) · count UInt8` and per element: `size UInt16 (of what follows) · id Int8 · type UInt8 · flags
    /// UInt8 · nameLength UInt8 · name · unitLength UInt8 · unit`, then `lower Double · upper Double` if bit 4 of the
    /// flags is set, `step Double` if bit 5 is, and if bit 6 is `count UInt8` and per choice `value` (of an integer,
    /// its wire form) `· nameLength UInt8 · name`. Flags: bit 0 UDP, 1 latest, 2 read, 3 write.
    public var wireBytes: [UInt8] {
        var bytes: [UInt8] = [Self.formVersion, UInt8(elements.count)]
        for element in elements {
            let entry = Self.entry(element)
            withUnsafeBytes(of: UInt16(entry.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: entry)
        }
        return bytes
    }

    private static func entry(_ element: ElementDefinition) -> [UInt8] {
        var flags: UInt8 = 0
        if element.transport == .udp { flags |= udpFlag }
        if element.latest { flags |= latestFlag }
        if element.access.contains(.read) { flags |= readFlag }
        if element.access.contains(.write) { flags |= writeFlag }
        if element.range != nil { flags |= rangeFlag }
        if element.step != nil { flags |= stepFlag }
        let choices = element.fields.choices
        if choices != nil { flags |= choicesFlag }
        var entry = [UInt8(bitPattern: element.id), element.type.rawValue, flags]
        for text in [element.name, element.unit] {
            entry.append(UInt8(text.utf8.count))
            entry.append(contentsOf: text.utf8)
        }
        for number in [element.range?.lowerBound, element.range?.upperBound, element.step] {
            guard let number else { continue }
            withUnsafeBytes(of: number.bitPattern.littleEndian) { entry.append(contentsOf: $0) }
        }
        guard let choices else { return entry }
        entry.append(UInt8(choices.list.count))
        for (position, choice) in choices.list.enumerated() {
            if let count = element.type.fixedByteCount {
                withUnsafeBytes(of: choices.patterns[position].littleEndian) { entry.append(contentsOf: $0[..<count]) }
            }
            entry.append(UInt8(choice.name.utf8.count))
            entry.append(contentsOf: choice.name.utf8)
        }
        return entry
    }

    /// Reads a catalogue. Elements of a type that this code does not know are left out.
    ///
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidCatalogue`` and what is wrong.
    public init(wireBytes bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = ByteReader(bytes)
        guard let form = reader.uint8(), let count = reader.uint8() else { throw Self.invalid("it is cut off") }
        guard form == Self.formVersion else { throw Self.invalid("its form is \(form), and this program knows form 1") }
        var definitions: [ElementDefinition] = []
        for _ in 0..<count {
            guard let size = reader.uint16(), let entry = reader.bytes(Int(size)) else {
                throw Self.invalid("it is cut off after \(definitions.count) elements")
            }
            if let definition = try Self.definition(entry) { definitions.append(definition) }
        }
        do {
            try self.init(definitions)
        } catch {
            throw Self.invalid(error.message)
        }
    }

    private static func definition(_ entry: UnsafeRawBufferPointer) throws(WireError) -> ElementDefinition? {
        var reader = ByteReader(entry)
        guard let id = reader.uint8(), let typeCode = reader.uint8(), let flags = reader.uint8(),
            let nameBytes = reader.countedBytes(), let unitBytes = reader.countedBytes()
        else { throw invalid("an entry is cut off") }
        guard let name = String(wireBytes: nameBytes) else { throw invalid("the name of element \(id) is not UTF-8") }
        guard let unit = String(wireBytes: unitBytes) else {
            throw invalid("the unit of '\(name.excerpt)' is not UTF-8")
        }
        guard let type = ElementType(rawValue: typeCode) else { return nil }
        var range: ClosedRange<Double>?
        if flags & rangeFlag != 0 {
            guard let lower = reader.double(), let upper = reader.double(), lower <= upper else {
                throw invalid("the range of '\(name.excerpt)' is missing or inverted")
            }
            range = lower...upper
        }
        var step: Double?
        if flags & stepFlag != 0 {
            guard let number = reader.double() else {
                throw invalid("the step of '\(name.excerpt)' is missing")
            }
            step = number
        }
        let choices = flags & choicesFlag != 0 ? try choices(&reader, type, name) : []
        var access: Access = []
        if flags & readFlag != 0 { access.insert(.read) }
        if flags & writeFlag != 0 { access.insert(.write) }
        do {
            return try ElementDefinition(
                id: Int(Int8(bitPattern: id)), name: name, type: type, transport: flags & udpFlag != 0 ? .udp : .tcp,
                unit: unit, range: range, step: step, choices: choices, access: access,
                latest: flags & latestFlag != 0)
        } catch {
            throw invalid(error.message)
        }
    }

    /// Reads an entry's choices. Those of a type for which this code knows none, which a later version may tell, are
    /// left out.
    private static func choices(
        _ reader: inout ByteReader, _ type: ElementType, _ name: String
    ) throws(WireError) -> [ElementChoice] {
        guard type.takesChoices else { return [] }
        guard let count = reader.uint8(), count > 0 else {
            throw invalid("the choices of '\(name.excerpt)' are missing")
        }
        var choices: [ElementChoice] = []
        for _ in 0..<count {
            var value: ElementValue?
            if type.isInteger {
                value = type.fixedByteCount.flatMap { reader.bytes($0) }.flatMap {
                    ElementValue(wireBytes: $0, type: type)
                }
                if value == nil { throw invalid("the choices of '\(name.excerpt)' are cut off") }
            }
            guard let bytes = reader.countedBytes() else {
                throw invalid("the choices of '\(name.excerpt)' are cut off")
            }
            guard let text = String(wireBytes: bytes) else {
                throw invalid("a choice of '\(name.excerpt)' is not UTF-8")
            }
            choices.append(value.map { ElementChoice($0, text) } ?? ElementChoice(text))
        }
        return choices
    }

    private static func invalid(_ problem: String) -> WireError {
        WireError(.invalidCatalogue, "the service's element list is invalid: \(problem)")
    }
}
