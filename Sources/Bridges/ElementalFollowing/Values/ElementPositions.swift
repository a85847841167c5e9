package import Elemental

/// Positions in an array of elements, by the elements' identifiers.
package struct ElementPositions: Sendable {
    private static let unused = UInt8.max

    private var positions = [UInt8](repeating: unused, count: 128)

    package init() {}

    package init(_ definitions: some Sequence<ElementDefinition>) {
        for (position, definition) in definitions.enumerated() { self[definition.id] = position }
    }

    /// The position of the element with that identifier; `nil` if there is none.
    package subscript(id: Int8) -> Int? {
        get {
            guard id >= 0, positions[Int(id)] != Self.unused else { return nil }
            return Int(positions[Int(id)])
        }
        set { positions[Int(id)] = newValue.map { UInt8($0) } ?? Self.unused }
    }
}
