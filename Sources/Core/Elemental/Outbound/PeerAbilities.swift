/// What the other end supports.
struct PeerAbilities {
    /// Whether it accepts empty values.
    var emptyValues = false
    /// Whether it accepts large values in pieces.
    var pieces = false
    /// Elements that this program defines and the other end does not.
    var missingElements = IdentifierSet()
}
