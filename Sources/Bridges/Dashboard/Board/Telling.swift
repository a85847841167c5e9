import ElementalWire

extension ElementCatalogue {
    /// An emergency stop and the elements that tell most of a service in one line of a list, the most telling first. There
    /// are twice as many as a line has room for, six: a page shows the first three that have a value.
    ///
    /// Readings with a unit come first, then switches and choices, other readings, numbers that can be set, and texts.
    /// Vectors and data are too long for a line, and what cannot be read has no value.
    var telling: [ElementDefinition] {
        let ranked = compactMap { element in element.rank.map { (rank: $0, element: element) } }
        let stop = first { $0.kind == .urgent && $0.access.contains(.read) }
        return [stop].compactMap(\.self) + ranked.sorted { $0.rank < $1.rank }.prefix(6).map(\.element)
    }
}

extension ElementDefinition {
    /// How much the element tells, 0 the most; `nil` if it has no place in a line.
    fileprivate var rank: Int? {
        guard access.contains(.read), kind == .state else { return nil }
        if type.isNumeric, choices.isEmpty {
            guard access.contains(.write) else { return unit.isEmpty ? 2 : 0 }
            return unit.isEmpty ? 4 : 3
        }
        if type == .bool || !choices.isEmpty { return 1 }
        return type == .string ? 5 : nil
    }
}
