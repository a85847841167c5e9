import ElementalWire

/// The rules that received frames are validated against, indexed by identifier, so that a frame costs one memory
/// lookup.
///
/// Unchecked: the memory is written during initialization only.
final class ElementTable: @unchecked Sendable {
    /// A trivial type, so that a check touches no reference count.
    struct Rule {
        var isDefined = false
        var type = ElementType.data
        var isWritable = false
        var isReadable = false
        var hasRange = false
        var range = 0.0...0.0
        var hasChoices = false
        var isTimed = false
        /// Whether it has a history.
        var isKept = false
        /// Whether it has choices or is timed.
        var isSpecial = false
        /// -1 if the length varies.
        var byteCount: Int32 = -1

        init() {}

        init(_ definition: ElementDefinition) {
            isDefined = true
            type = definition.type
            isWritable = definition.access.contains(.write)
            isReadable = definition.access.contains(.read)
            byteCount = Int32(definition.type.fixedByteCount ?? -1)
            if let range = definition.range {
                hasRange = true
                self.range = range
            }
            hasChoices = !definition.choices.isEmpty
            isTimed = definition.timed
            isKept = definition.history != nil
            isSpecial = hasChoices || isTimed
        }

        /// Returns how many bytes of a value to buffer: all, or none if it cannot be accepted. A value of a fixed
        /// length, at most 64 bytes, is checked for its form before its access, so it is buffered anyway.
        func keptByteCount(of length: Int, fromClient: Bool) -> Int {
            guard isDefined else { return 0 }
            if byteCount >= 0 { return Int(byteCount) == length ? length : 0 }
            return isTaken(fromClient: fromClient) ? length : 0
        }

        @inline(__always)
        func isTaken(fromClient: Bool) -> Bool { fromClient ? isWritable : isReadable }

        @inline(__always)
        func isWellFormed(_ value: UnsafeRawBufferPointer) -> Bool {
            if byteCount >= 0, value.count != Int(byteCount) { return false }
            switch type {
            case .bool: return value[0] <= 1
            case .string: return String(validating: value, as: UTF8.self) != nil
            default: return true
            }
        }

        @inline(__always)
        func allows(_ value: UnsafeRawBufferPointer) -> Bool { !hasRange || type.isWithin(range, value) }
    }

    let catalogue: ElementCatalogue
    /// Whether an element is timed or has a history, so that its values need times.
    let usesTimes: Bool
    /// Elements that the peer may neither read nor set, and that are not announced to it.
    let hidden: IdentifierSet
    /// 128 rules, indexed by identifier. They live as long as the table.
    let rules: UnsafePointer<Rule>
    private static let count = 128

    /// - Parameter hidden: further elements, all of whose values are rejected.
    init(_ catalogue: ElementCatalogue, hiding hidden: [ElementDefinition] = []) {
        self.catalogue = catalogue
        usesTimes = catalogue.contains { $0.timed || $0.history != nil }
        var hiddenIDs = IdentifierSet()
        let rules = UnsafeMutablePointer<Rule>.allocate(capacity: Self.count)
        rules.initialize(repeating: Rule(), count: Self.count)
        for definition in catalogue { rules[Int(definition.id)] = Rule(definition) }
        for definition in hidden {
            rules[Int(definition.id)] = Rule(definition)
            (rules[Int(definition.id)].isWritable, rules[Int(definition.id)].isReadable) = (false, false)
            hiddenIDs.insert(definition.id)
        }
        self.hidden = hiddenIDs
        self.rules = UnsafePointer(rules)
    }

    convenience init(_ all: ElementCatalogue, for role: Role, under policy: SecurityPolicy) {
        let visible = all.visible(to: role, under: policy)
        self.init(visible, hiding: all.filter { visible[id: $0.id] == nil })
    }

    deinit { rules.deallocate() }

    @inline(never)
    func isChoice(_ id: Int8, _ value: UnsafeRawBufferPointer) -> Bool {
        catalogue[id: id]?.allowsChoice(value) ?? true
    }

    /// - Parameter id: not negative.
    func type(of id: Int8) -> ElementType? {
        rules[Int(id)].isDefined ? rules[Int(id)].type : nil
    }
}
