import ElementalWire

/// What received frames are checked against, by identifier, so that a frame costs one array access.
final class ElementTable: Sendable {
    /// What holds for the values of one element.
    final class Rule: Sendable {
        let definition: ElementDefinition
        let type: ElementType
        /// -1 where the length varies.
        let byteCount: Int
        let range: ClosedRange<Double>?

        init(_ definition: ElementDefinition) {
            self.definition = definition
            type = definition.type
            byteCount = definition.type.fixedByteCount ?? -1
            range = definition.range
        }

        /// Whether the bytes are a value of the element's type.
        func isWellFormed(_ value: UnsafeRawBufferPointer) -> Bool {
            if byteCount >= 0, value.count != byteCount { return false }
            switch type {
            case .bool: return value[0] <= 1
            case .string: return String(validating: value, as: UTF8.self) != nil
            default: return true
            }
        }

        /// Whether a well-formed value lies in the element's range.
        func allows(_ value: UnsafeRawBufferPointer) -> Bool {
            guard let range else { return true }
            guard let number = ElementValue(wireBytes: value, type: type)?.numericValue else { return true }
            return range.contains(number)
        }
    }

    let catalogue: ElementCatalogue
    private let rules: [Rule?]

    init(_ catalogue: ElementCatalogue) {
        self.catalogue = catalogue
        let count = (catalogue.map { Int($0.id) }.max() ?? -1) + 1
        var rules: [Rule?] = Array(repeating: nil, count: count)
        for definition in catalogue { rules[Int(definition.id)] = Rule(definition) }
        self.rules = rules
    }

    /// What holds for the element, or `nil` if there is none. `id` is not negative.
    func rule(_ id: Int8) -> Rule? {
        let position = Int(id)
        return position < rules.count ? rules[position] : nil
    }
}
