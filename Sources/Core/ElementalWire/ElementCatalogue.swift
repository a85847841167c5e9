/// The list of a service's elements, compiled into both ends or sent by the service.
public struct ElementCatalogue: Sendable, Hashable {
    /// The elements, in the order given.
    public let elements: [ElementDefinition]

    /// Positions in ``elements`` by identifier; ``unused`` where no element has it.
    private let positions: [UInt8]
    private let names: NameIndex

    private static let unused = UInt8.max

    /// A catalogue of elements known at run time.
    ///
    /// - Throws: ``WireError`` with the code ``WireError/Code/duplicateElement``, naming both elements.
    public init(_ elements: [ElementDefinition]) throws(WireError) {
        var positions = [UInt8](repeating: Self.unused, count: 1 + Int(elements.lazy.map { $0.id }.max() ?? -1))
        var names = NameIndex()
        for (position, element) in elements.enumerated() {
            let other = positions[Int(element.id)]
            guard other == Self.unused else {
                throw WireError(
                    .duplicateElement,
                    "elements '\(elements[Int(other)].name)' and '\(element.name)' share the identifier \(element.id); "
                        + "give each its own")
            }
            // No more than 128 elements have different identifiers.
            positions[Int(element.id)] = UInt8(position)
            if let other = names.add(element.name, position) {
                throw WireError(
                    .duplicateElement,
                    "elements \(elements[other].id) and \(element.id) share the name '\(element.name)'; give each its own"
                )
            }
        }
        self.elements = elements
        self.positions = positions
        self.names = names
    }

    /// The element with that identifier, or `nil`.
    public subscript(id id: Int8) -> ElementDefinition? {
        guard positions.indices.contains(Int(id)), positions[Int(id)] != Self.unused else { return nil }
        return elements[Int(positions[Int(id)])]
    }

    /// The element with that name, or `nil`. Upper and lower case are told apart only where both exist.
    public subscript(name: String) -> ElementDefinition? { names[name].map { elements[$0] } }

    /// Whether any element travels over UDP.
    public var usesUDP: Bool { elements.contains { $0.transport == .udp } }

    /// Whether both have the same elements in the same order.
    public static func == (a: ElementCatalogue, b: ElementCatalogue) -> Bool { a.elements == b.elements }

    /// Hashes the elements.
    public func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}

extension ElementCatalogue: ExpressibleByArrayLiteral {
    /// A catalogue known at compile time. Two elements with the same identifier or name stop the program, with both
    /// names in the message.
    public init(arrayLiteral elements: ElementDefinition...) {
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
