/// What the other end takes.
struct PeerAbilities {
    /// Whether it takes values of no bytes.
    var emptyValues = false
    /// Whether it takes large values in pieces.
    var pieces = false
    /// Elements that this program defines and the other end has not.
    var missingElements = IdentifierSet()
}
