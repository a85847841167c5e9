/// What the other end supports.
struct PeerAbilities {
    /// Whether it accepts empty values.
    var emptyValues = false
    /// Whether it accepts large values in pieces.
    var pieces = false
    /// Elements of this program that do not exist for the other end: the service does not have them, or the client's
    /// role may not read them.
    var missingElements = IdentifierSet()
    /// Whether they are missing because of the client's role.
    private(set) var isRestricted = false

    /// Never sends the client a value of these elements.
    mutating func withhold(_ elements: IdentifierSet) {
        missingElements.formUnion(elements)
        isRestricted = true
    }

    /// Discards what an earlier connection's hello announced.
    mutating func forgetHello() {
        emptyValues = false
        pieces = false
        if !isRestricted { missingElements = IdentifierSet() }
    }
}
