import ElementalWire

/// Compares a program's elements with those that the service announces.
struct CatalogueComparison {
    /// A description of the elements whose types differ; `nil` if there are none.
    let mismatch: String?
    /// The elements that the service does not have.
    let missing: IdentifierSet

    init(own: ElementCatalogue, service: ElementCatalogue, serviceName: String) {
        var problems: [String] = []
        var missing = IdentifierSet()
        for element in own {
            guard let other = service[id: element.id] else {
                missing.insert(element.id)
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
