import ElementalWire

/// How a program's elements and those that the service tells fit together.
struct CatalogueComparison {
    /// The elements that both define with different types, in words; `nil` if there are none.
    let mismatch: String?
    /// The error of using an element that the service does not have, by identifier.
    let missing: [Int8: ElementalError]

    init(own: ElementCatalogue, service: ElementCatalogue, serviceName: String) {
        var problems: [String] = []
        var missing: [Int8: ElementalError] = [:]
        for element in own {
            guard let other = service[id: element.id] else {
                missing[element.id] = ElementalError(
                    .unknownElement, "the service '\(serviceName)' has no element \(element.id) ('\(element.name)')")
                continue
            }
            guard other.type != element.type else { continue }
            let theirs = other.name == element.name ? "" : " ('\(other.name)')"
            problems.append(
                "element \(element.id) '\(element.name)' is \(element.type) in this program and \(other.type)\(theirs) in "
                    + "the service '\(serviceName)'")
        }
        mismatch = problems.isEmpty ? nil : problems.joined(separator: "; ")
        self.missing = missing
    }
}
