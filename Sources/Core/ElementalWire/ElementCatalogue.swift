/// The list of a service's elements, compiled into both ends or sent by the service.
public struct ElementCatalogue: Sendable, Hashable {
    /// The elements, in the order given.
    public let elements: [ElementDefinition]

    /// Positions in ``elements`` by identifier; ``unused`` where no element has it.
    private let positions: [UInt8]
    #if !hasFeature(Embedded)
    private let names: NameIndex
    #endif

    private static let unused = UInt8.max

    /// A catalogue of elements known at run time.
    ///
    /// - Throws: ``WireError`` with the code ``WireError/Code/duplicateElement``, naming both elements.
    public init(_ elements: [ElementDefinition]) throws(WireError) {
        var duplicate: (other: Int, position: Int)?
        self.init(elements, &duplicate)
        guard let duplicate else { return }
        let (other, element) = (elements[duplicate.other], elements[duplicate.position])
        if other.id == element.id {
            throw WireError(
                .duplicateElement,
                "elements '\(other.name)' and '\(element.name)' share the identifier \(element.id); give each its own")
        }
        throw WireError(
            .duplicateElement,
            "elements \(other.id) and \(element.id) share the name '\(element.name)'; give each its own")
    }

    /// - Parameter duplicate: set to the positions of two elements that share an identifier or a name. The catalogue
    ///   must not be used then.
    private init(_ elements: [ElementDefinition], _ duplicate: inout (other: Int, position: Int)?) {
        var highest = -1
        for element in elements where highest < Int(element.id) { highest = Int(element.id) }
        var positions = [UInt8](repeating: Self.unused, count: 1 + highest)
        #if !hasFeature(Embedded)
        var names = NameIndex()
        #endif
        for position in elements.indices {
            let element = elements[position]
            let other = positions[Int(element.id)]
            if other != Self.unused, duplicate == nil { duplicate = (Int(other), position) }
            // Truncation is safe: a position above 127 is that of a duplicate.
            positions[Int(element.id)] = UInt8(truncatingIfNeeded: position)
            #if hasFeature(Embedded)
            // A device stores the names only once, so it has no index of them.
            for other in 0..<position where elements[other].name.hasBytes(of: element.name) {
                if duplicate == nil { duplicate = (other, position) }
            }
            #else
            if let other = names.add(element.name, position), duplicate == nil { duplicate = (other, position) }
            #endif
        }
        self.elements = elements
        self.positions = positions
        #if !hasFeature(Embedded)
        self.names = names
        #endif
    }

    /// The element with that identifier, or `nil`.
    public subscript(id id: Int8) -> ElementDefinition? {
        guard positions.indices.contains(Int(id)), positions[Int(id)] != Self.unused else { return nil }
        return elements[Int(positions[Int(id)])]
    }

    /// The element with that name, or `nil`: an exact match, or else the first match that ignores case.
    public subscript(name: String) -> ElementDefinition? {
        #if hasFeature(Embedded)
        var names = NameIndex()
        for position in elements.indices { _ = names.add(elements[position].name, position) }
        #endif
        return names[name].map { elements[$0] }
    }

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
        #if hasFeature(Embedded)
        // Without the messages, which a device does not show.
        var duplicate: (other: Int, position: Int)?
        self.init(elements, &duplicate)
        if duplicate != nil { fatalError("two elements share an identifier or a name") }
        #else
        do {
            try self.init(elements)
        } catch {
            preconditionFailure(error.message)
        }
        #endif
    }
}

extension ElementCatalogue: RandomAccessCollection {
    public var startIndex: Int { elements.startIndex }
    public var endIndex: Int { elements.endIndex }
    public subscript(position: Int) -> ElementDefinition { elements[position] }
}
