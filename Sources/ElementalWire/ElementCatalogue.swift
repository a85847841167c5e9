/// The list of a service's elements, shared by both ends or told by the service.
public struct ElementCatalogue: Sendable, Hashable {
    /// The elements, in the order given.
    public let elements: [ElementDefinition]

    /// Positions in ``elements`` by identifier.
    private let positions: [Int8: Int]

    /// A catalogue of elements known at run time.
    ///
    /// - Throws: ``WireError`` with the code ``WireError/Code/duplicateElement``, naming both elements.
    public init(_ elements: [any AnyElement]) throws(WireError) {
        var positions: [Int8: Int] = [:]
        var names: [String: ElementDefinition] = [:]
        let definitions = elements.map(\.definition)
        for (position, element) in definitions.enumerated() {
            if let other = positions.updateValue(position, forKey: element.id) {
                throw WireError(
                    .duplicateElement,
                    "elements '\(definitions[other].name)' and '\(element.name)' share the identifier \(element.id); "
                        + "give each its own")
            }
            if let other = names.updateValue(element, forKey: element.name) {
                throw WireError(
                    .duplicateElement,
                    "elements \(other.id) and \(element.id) share the name '\(element.name)'; give each its own")
            }
        }
        self.elements = definitions
        self.positions = positions
    }

    /// The element with that identifier, or `nil`.
    public subscript(id id: Int8) -> ElementDefinition? { positions[id].map { elements[$0] } }

    /// The element with that name, or `nil`. Upper and lower case are told apart only where both exist.
    public subscript(name: String) -> ElementDefinition? {
        elements.first { $0.name == name } ?? elements.first { $0.name.lowercased() == name.lowercased() }
    }

    /// Whether any element travels over UDP.
    public var usesUDP: Bool { elements.contains { $0.transport == .udp } }
}

extension ElementCatalogue: ExpressibleByArrayLiteral {
    /// A catalogue known at compile time. Two elements with one identifier or one name stop the program, with the
    /// names of both.
    public init(arrayLiteral elements: any AnyElement...) {
        do {
            try self.init(elements)
        } catch {
            preconditionFailure(error.message)
        }
    }
}

extension ElementCatalogue: RandomAccessCollection {
    public var startIndex: Int { elements.startIndex }
    public var endIndex: Int { elements.endIndex }
    public subscript(position: Int) -> ElementDefinition { elements[position] }
}
