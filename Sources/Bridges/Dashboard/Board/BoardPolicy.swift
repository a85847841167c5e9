package struct BoardPolicy: Sendable, Hashable {
    /// Why pages can neither set elements nor pair, as a sentence for the user; `nil` if they can.
    package var reason: String?
    /// Advice for the user when a service has another key than the paired one; `nil` if there is none.
    package var keyRemedy: String?

    package init(reason: String? = nil) { self.reason = reason }

    package var allowsControl: Bool { reason == nil }
}
