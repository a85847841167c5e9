/// What pages may do.
package struct BoardPolicy: Sendable, Hashable {
    /// Whether pages set elements.
    package var allowsControl: Bool
    /// Whether a person pairs services from a page.
    package var allowsPairing: Bool
    /// Why not, as a sentence for the person at the page; `nil` if nothing is forbidden.
    package var reason: String?

    /// What to do where a service has another key than the paired one, for the person at the page; `nil` if nothing is known.
    package var keyRemedy: String?

    package init(allowsControl: Bool, allowsPairing: Bool, reason: String?) {
        self.allowsControl = allowsControl
        self.allowsPairing = allowsPairing
        self.reason = reason
    }

    /// Nothing is forbidden.
    package static let full = BoardPolicy(allowsControl: true, allowsPairing: true, reason: nil)
}
