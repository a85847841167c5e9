/// An element's choices, checked, and laid out so that a value that came is looked up quickly.
@usableFromInline
struct ChoiceTable: Sendable {
    /// The choices in the order given.
    let list: [ElementChoice]
    /// The wire forms of the numbers, each with zeros behind it as one little-endian number; empty for texts.
    let patterns: [UInt64]
    private let names: NameIndex

    /// The name of the choice at a position.
    func name(at position: Int) -> String {
        #if hasFeature(Embedded)
        // A choice has a value of any type, which is more code to copy.
        names.names[position]
        #else
        list[position].name
        #endif
    }

    /// A value of more bytes is no choice.
    static let maximumValueByteCount = 255

    /// What is wrong with a list of choices, in words.
    struct Problem: Error {
        let text: String
    }

    init(_ list: [ElementChoice], type: ElementType, range: ClosedRange<Double>?) throws(Problem) {
        guard type.takesChoices else {
            throw Problem(text: "choices mean nothing for type \(type); leave them out")
        }
        guard list.count <= ElementChoice.maximumCount else {
            throw Problem(text: "an element has at most \(ElementChoice.maximumCount) choices, not \(list.count)")
        }
        var names = NameIndex()
        var patterns: [UInt64] = []
        var byteCount = 0
        for (position, choice) in list.enumerated() {
            let name = choice.name.excerpt
            guard (1...255).contains(choice.name.utf8.count) else {
                throw Problem(text: "a choice has 1 to 255 UTF-8 bytes, '\(name)' has \(choice.name.utf8.count)")
            }
            guard choice.value.type == type else {
                throw Problem(text: "the choice '\(name)' is \(choice.value.type), not \(type)")
            }
            if names.add(choice.name, position) != nil { throw Problem(text: "the choice '\(name)' comes twice") }
            byteCount += 1 + choice.name.utf8.count
            if case .string(let text) = choice.value {
                guard text.utf8.elementsEqual(choice.name.utf8) else {
                    throw Problem(text: "the choice '\(name)' of a string is its own name")
                }
                continue
            }
            if let range, let number = choice.value.numericValue, !range.contains(number) {
                throw Problem(text: "the choice '\(name)' is outside the range")
            }
            byteCount += choice.value.wireByteCount
            let pattern = Self.pattern(choice.value)
            guard !patterns.contains(pattern) else {
                throw Problem(text: "the choice '\(name)' has the number of another")
            }
            patterns.append(pattern)
        }
        guard byteCount <= ElementChoice.maximumByteCount else {
            throw Problem(
                text:
                    "the choices have \(byteCount) bytes together; at most \(ElementChoice.maximumByteCount) are allowed"
            )
        }
        self.list = list
        self.patterns = patterns
        self.names = names
    }

    /// Whether the bytes are one of the choices. They are a value of the element's type.
    func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !patterns.isEmpty else {
            return list.indices.contains { name(at: $0).hasBytes(bytes) }
        }
        return patterns.contains(Self.pattern(bytes))
    }

    /// The choice with that name, which is matched without regard to upper and lower case where that leaves no doubt.
    func choice(named name: String) -> ElementChoice? {
        // Long enough for a letter that has more bytes in the other case.
        name.utf8.count <= 4 * 255 ? names[name].map { list[$0] } : nil
    }

    private static func pattern(_ value: ElementValue) -> UInt64 {
        var bytes: UInt64 = 0
        return withUnsafeMutableBytes(of: &bytes) { bytes in
            if let base = bytes.baseAddress { value.writeWireBytes(to: base) }
            return pattern(UnsafeRawBufferPointer(rebasing: bytes[..<value.wireByteCount]))
        }
    }

    private static func pattern(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension ChoiceTable: Hashable {
    @usableFromInline
    static func == (a: ChoiceTable, b: ChoiceTable) -> Bool { a.list == b.list }

    @usableFromInline
    func hash(into hasher: inout Hasher) { hasher.combine(list) }
}
