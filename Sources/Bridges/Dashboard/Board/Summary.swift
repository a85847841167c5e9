import ElementalWire

extension ElementCatalogue {
    /// An emergency stop and the elements that summarise a service best in one line of a list, the most important
    /// first. There are six of these, twice as many as fit in a line: a page shows the first three that have a value.
    ///
    /// Readings with a unit come first, then switches and choices, other readings, numbers that can be set, and texts.
    /// Vectors and data are too long for a line, and an element that cannot be read has no value.
    var summary: [ElementDefinition] {
        let ranked = compactMap { element in element.rank.map { (rank: $0, element: element) } }
        let stop = first { $0.kind == .urgent && $0.access.contains(.read) }
        return [stop].compactMap(\.self) + ranked.sorted { $0.rank < $1.rank }.prefix(6).map(\.element)
    }
}

extension ElementDefinition {
    /// The element's rank in the summary, 0 for the most important; `nil` if it is not part of it.
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
