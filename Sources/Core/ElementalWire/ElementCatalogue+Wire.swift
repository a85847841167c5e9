extension ElementCatalogue {
    // The bits of an entry's flags byte.
    private static let udpFlag: UInt8 = 1 << 0
    private static let latestFlag: UInt8 = 1 << 1
    private static let readFlag: UInt8 = 1 << 2
    private static let writeFlag: UInt8 = 1 << 3
    private static let rangeFlag: UInt8 = 1 << 4
    private static let stepFlag: UInt8 = 1 << 5
    private static let choicesFlag: UInt8 = 1 << 6
    private static let timedFlag: UInt8 = 1 << 7
    // The tags of an entry's extensions.
    private static let componentRangeTag: UInt8 = 1
    private static let kindTag: UInt8 = 2
    private static let historyTag: UInt8 = 3

    /// The version of the catalogue's form.
    static let formVersion: UInt8 = 1

    /// The catalogue as the system element -5 carries it.
    ///
    /// `form UInt8 (1) · count UInt8` and per element: `size UInt16 (of the rest of the entry) · id Int8 · type UInt8 ·
    /// flags UInt8 · nameLength UInt8 · name · unitLength UInt8 · unit`, then `lower Double · upper Double` if bit 4 of
    /// the flags is set, `step Double` if bit 5 is set, and if bit 6 is set `count UInt8` and per choice `value` (only
    /// for integers, in wire form) `· nameLength UInt8 · name`. Flags: bit 0 UDP, 1 latest, 2 read, 3 write, 7 timed.
    /// Extensions follow, each `tag UInt8 · length UInt8 · bytes`: a vector's range is `1 · 16 · lower Double · upper
    /// Double`, the kind of a bool other than a state `2 · 1 · kind UInt8`, an element's history `3 · 12 · count UInt32
    /// · seconds UInt32 · bytes UInt32`.
    public var wireBytes: [UInt8] {
        let count = wireByteCount
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = copyWireBytes(from: 0, to: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// The length of ``wireBytes`` in bytes.
    package var wireByteCount: Int {
        var count = 2
        for element in elements { count += 2 + Self.entryByteCount(element) }
        return count
    }

    /// Copies a part of ``wireBytes`` without building the whole, so that a device needs no memory for it.
    ///
    /// - Parameter offset: where the part begins.
    /// - Returns: the number of bytes copied, limited by the destination and by the end of ``wireBytes``.
    package func copyWireBytes(from offset: Int, to destination: UnsafeMutableRawBufferPointer) -> Int {
        var part = CataloguePart(offset: offset, destination: destination)
        part.put(Self.formVersion)
        part.put(UInt8(elements.count))
        for element in elements {
            let count = Self.entryByteCount(element)
            guard part.reaches(2 + count) else { continue }
            part.put(UInt64(count), byteCount: 2)
            Self.writeEntry(element, to: &part)
        }
        return part.copiedByteCount
    }

    /// The length of an element's entry in bytes, without its size field. Nothing is written; the bytes are only
    /// counted.
    private static func entryByteCount(_ element: ElementDefinition) -> Int {
        var part = CataloguePart(offset: 0, destination: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        writeEntry(element, to: &part)
        return part.position
    }

    private static func writeEntry(_ element: ElementDefinition, to part: inout CataloguePart) {
        var flags: UInt8 = 0
        if element.transport == .udp { flags |= udpFlag }
        if element.latest { flags |= latestFlag }
        if element.access.contains(.read) { flags |= readFlag }
        if element.access.contains(.write) { flags |= writeFlag }
        // Earlier readers reject a vector with this flag, and ignore extensions.
        let hasComponentRange = element.range != nil && element.type.isVector
        if element.range != nil, !hasComponentRange { flags |= rangeFlag }
        if element.step != nil { flags |= stepFlag }
        let choices = element.fields.choices
        if choices != nil { flags |= choicesFlag }
        if element.timed { flags |= timedFlag }
        part.put(UInt8(bitPattern: element.id))
        part.put(element.type.rawValue)
        part.put(flags)
        part.put(counted: element.name)
        part.put(counted: element.unit)
        // A vector has no step and no choices in front of its extensions.
        if hasComponentRange {
            part.put(componentRangeTag)
            part.put(16)
        }
        if let range = element.range {
            part.put(range.lowerBound.bitPattern, byteCount: 8)
            part.put(range.upperBound.bitPattern, byteCount: 8)
        }
        if let step = element.step { part.put(step.bitPattern, byteCount: 8) }
        // A bool has no step and no choices either.
        if element.kind != .state {
            part.put(kindTag)
            part.put(1)
            part.put(element.kind.rawValue)
        }
        if let choices {
            part.put(UInt8(choices.list.count))
            for position in choices.list.indices {
                if let count = element.type.fixedByteCount { part.put(choices.patterns[position], byteCount: count) }
                part.put(counted: choices.name(at: position))
            }
        }
        #if !hasFeature(Embedded)
        if let history = element.history {
            part.put(historyTag)
            part.put(HistoryLimits.wireByteCount)
            for field in history.wireFields { part.put(field, byteCount: 4) }
        }
        #endif
    }

    /// Reads a catalogue. Elements of a type that this code does not know are left out.
    ///
    /// - Throws: ``WireError`` with the code ``WireError/Code/invalidCatalogue`` and what is wrong.
    public init(wireBytes bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = ByteReader(bytes)
        guard let form = reader.uint8(), let count = reader.uint8() else { throw Self.invalid("it is cut off") }
        guard form == Self.formVersion else {
            throw Self.invalid("its form \(form) is not supported; update this program")
        }
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
            guard !type.isVector else { throw invalid("the vector '\(name.excerpt)' has the range of a number") }
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
        // After skipped choices of an unknown form, the start of the extensions is unknown.
        let hasExtensions = flags & choicesFlag == 0 || type.takesChoices
        var kind = ElementKind.state
        #if !hasFeature(Embedded)
        var history: HistoryLimits?
        #endif
        while hasExtensions, let tag = reader.uint8(), let bytes = reader.countedBytes() {
            var content = ByteReader(bytes)
            switch tag {
            case componentRangeTag where type.isVector:
                guard let lower = content.double(), let upper = content.double(), content.isAtEnd, lower <= upper else {
                    throw invalid("the range of '\(name.excerpt)' is missing or inverted")
                }
                range = lower...upper
            // A later version may define other kinds, or add bytes.
            case kindTag where type == .bool: kind = content.uint8().flatMap(ElementKind.init) ?? .state
            #if !hasFeature(Embedded)
            case historyTag: history = HistoryLimits(&content)
            #endif
            default: continue
            }
        }
        var access: Access = []
        if flags & readFlag != 0 { access.insert(.read) }
        if flags & writeFlag != 0 { access.insert(.write) }
        do {
            let definition = try ElementDefinition(
                id: Int(Int8(bitPattern: id)), name: name, type: type, transport: flags & udpFlag != 0 ? .udp : .tcp,
                unit: unit, range: range, step: step, choices: choices, access: access,
                latest: flags & latestFlag != 0, kind: kind, timed: flags & timedFlag != 0)
            #if hasFeature(Embedded)
            return definition
            #else
            return history == nil ? definition : definition.withHistory(history)
            #endif
        } catch {
            throw invalid(error.message)
        }
    }

    /// Reads an entry's choices. A later version may allow choices for more types; those are skipped.
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
        WireError(.invalidCatalogue, "the service's catalogue is invalid: \(problem)")
    }
}

/// Receives the bytes of a catalogue one after the other and keeps one part of them.
private struct CataloguePart {
    let offset: Int
    let destination: UnsafeMutableRawBufferPointer
    private(set) var position = 0

    init(offset: Int, destination: UnsafeMutableRawBufferPointer) {
        self.offset = offset
        self.destination = destination
    }

    var copiedByteCount: Int { max(0, min(position - offset, destination.count)) }

    /// Skips the next bytes if none of them belong to the part.
    ///
    /// - Returns: whether any of them belongs to it.
    mutating func reaches(_ count: Int) -> Bool {
        if position + count > offset, position < offset + destination.count { return true }
        position += count
        return false
    }

    mutating func put(_ byte: UInt8) {
        if position >= offset, position - offset < destination.count { destination[position - offset] = byte }
        position += 1
    }

    /// Puts a number's lowest bytes, little-endian.
    mutating func put(_ number: UInt64, byteCount: Int) {
        var rest = number
        for _ in 0..<byteCount {
            put(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Puts a text's length and its bytes.
    mutating func put(counted text: String) {
        text.withBytes { bytes in
            put(UInt8(bytes.count))
            for byte in bytes { put(byte) }
        }
    }
}
