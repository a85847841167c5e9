/// An element's checked choices, laid out for a fast lookup of received values.
@usableFromInline
struct ChoiceTable: Sendable {
    /// The choices in the order given.
    let list: [ElementChoice]
    /// The wire forms of the numbers, each zero-padded and read as one little-endian integer; empty for texts.
    let patterns: [UInt64]
    private let names: NameIndex

    /// The name of the choice at a position.
    func name(at position: Int) -> String {
        #if hasFeature(Embedded)
        // A whole `ElementChoice` holds a value of any type, which takes more code to copy.
        names.names[position]
        #else
        list[position].name
        #endif
    }

    /// The maximum length of a choice's value, in bytes.
    static let maximumValueByteCount = 255

    /// What is wrong with a list of choices. The text is built lazily: embedded targets never show it.
    enum Problem: Error {
        case type(ElementType)
        case count(Int)
        case nameLength(String)
        case valueType(String, ElementType, ElementType)
        case twice(String)
        case notItsName(String)
        case outsideRange(String)
        case sameNumber(String)
        case byteCount(Int)

        /// The problem as a message for the user.
        var text: String {
            switch self {
            case .type(let type): "type \(type) allows no choices; leave them out"
            case .count(let count): "an element has at most \(ElementChoice.maximumCount) choices, not \(count)"
            case .nameLength(let name):
                "the choice '\(name.excerpt)' has \(name.utf8ByteCount) UTF-8 bytes; give 1 to 255"
            case .valueType(let name, let type, let expected):
                "the choice '\(name.excerpt)' is \(type), not \(expected)"
            case .twice(let name): "the choice '\(name.excerpt)' is listed twice; remove one"
            case .notItsName(let name): "the choice '\(name.excerpt)' of a string must be equal to its name"
            case .outsideRange(let name): "the choice '\(name.excerpt)' is outside the range; change one of them"
            case .sameNumber(let name): "the choice '\(name.excerpt)' has the number of another one; give each its own"
            case .byteCount(let count):
                "the choices have \(count) bytes together; the maximum is \(ElementChoice.maximumByteCount)"
            }
        }
    }

    init(_ list: [ElementChoice], type: ElementType, range: ClosedRange<Double>?) throws(Problem) {
        guard type.takesChoices else { throw .type(type) }
        guard list.count <= ElementChoice.maximumCount else { throw .count(list.count) }
        var names = NameIndex()
        var patterns: [UInt64] = []
        var byteCount = 0
        for position in list.indices {
            let choice = list[position]
            let nameByteCount = choice.name.utf8ByteCount
            guard (1...255).contains(nameByteCount) else { throw .nameLength(choice.name) }
            guard choice.value.type == type else { throw .valueType(choice.name, choice.value.type, type) }
            if names.add(choice.name, position) != nil { throw .twice(choice.name) }
            byteCount += 1 + nameByteCount
            if case .string(let text) = choice.value {
                guard text.hasBytes(of: choice.name) else { throw .notItsName(choice.name) }
                continue
            }
            if let range, let number = choice.value.numericValue, !range.contains(number) {
                throw .outsideRange(choice.name)
            }
            byteCount += choice.value.wireByteCount
            let pattern = choice.value.visit(PatternVisitor())
            guard !patterns.contains(pattern) else { throw .sameNumber(choice.name) }
            patterns.append(pattern)
        }
        guard byteCount <= ElementChoice.maximumByteCount else { throw .byteCount(byteCount) }
        self.list = list
        self.patterns = patterns
        self.names = names
    }

    /// Whether the bytes, the wire form of a value of the element's type, are one of the choices.
    func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !patterns.isEmpty else {
            return list.indices.contains { name(at: $0).hasBytes(bytes) }
        }
        return patterns.contains(Self.pattern(bytes))
    }

    /// The choice with that name: an exact match, or else the first match that ignores case.
    func choice(named name: String) -> ElementChoice? {
        // A name has at most 255 bytes, and a letter may have up to 4 times as many bytes in the other case.
        name.utf8.count <= 4 * 255 ? names[name].map { list[$0] } : nil
    }

    private static func pattern(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The wire form of an integer, as a number.
private struct PatternVisitor: ElementValueVisitor {
    func visit<Value: ValueType>(_ value: Value) -> UInt64 {
        guard Value.isInteger else { return 0 }
        var bytes: UInt64 = 0
        withUnsafeMutableBytes(of: &bytes) {
            _ = value.write(to: UnsafeMutableRawBufferPointer(rebasing: $0[..<value.wireByteCount]))
        }
        return UInt64(littleEndian: bytes)
    }
}

extension ChoiceTable: Hashable {
    @usableFromInline
    static func == (a: ChoiceTable, b: ChoiceTable) -> Bool { a.list == b.list }

    @usableFromInline
    func hash(into hasher: inout Hasher) { hasher.combine(list) }
}
