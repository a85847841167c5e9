package struct BoardPolicy: Sendable, Hashable {
    /// Why pages neither set elements nor pair, as a sentence for the person at the page; `nil` if they do.
    package var reason: String?
    /// Advice for the person at the page when a service has another key than the paired one; `nil` if there is none.
    package var keyRemedy: String?

    package init(reason: String? = nil) { self.reason = reason }

    package var allowsControl: Bool { reason == nil }
}
