/// The positions of a catalogue's elements, or of an element's choices, by name.
///
/// A name is matched exactly, or else case-insensitively; then the first match counts.
struct NameIndex: Sendable {
    #if hasFeature(Embedded)
    // A linear search that compares bytes: Unicode's rules for hashing and comparing need tables that are larger than a
    // device's whole program. Only ASCII letters are matched case-insensitively.
    private(set) var names: [String] = []

    /// Adds a name.
    ///
    /// - Returns: the position that has this name already, or `nil`.
    mutating func add(_ name: String, _ position: Int) -> Int? {
        if let other = names.firstIndex(where: { $0.hasBytes(of: name) }) { return other }
        names.append(name)
        return nil
    }

    /// The position with that name, or `nil`.
    subscript(name: String) -> Int? {
        names.firstIndex { $0.hasBytes(of: name) }
            ?? names.firstIndex { $0.utf8.elementsEqual(name.utf8) { Self.lowered($0) == Self.lowered($1) } }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
    #else
    private var positions: [String: Int] = [:]
    /// The first position by name in lower case.
    private var foldedPositions: [String: Int] = [:]

    /// Adds a name.
    ///
    /// - Returns: the position that has this name already, or `nil`.
    mutating func add(_ name: String, _ position: Int) -> Int? {
        if let other = positions[name] { return other }
        positions[name] = position
        let folded = name.lowercased()
        if foldedPositions[folded] == nil { foldedPositions[folded] = position }
        return nil
    }

    /// The position with that name, or `nil`.
    subscript(name: String) -> Int? { positions[name] ?? foldedPositions[name.lowercased()] }
    #endif
}
