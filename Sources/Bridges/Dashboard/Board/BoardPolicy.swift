package struct BoardPolicy: Sendable, Hashable {
    /// Why pages neither set elements nor pair, as a sentence for the person at the page; `nil` if they do.
    package var reason: String?
    /// What to do where a service has another key than the paired one, for the person at the page; `nil` if nothing is known.
    package var keyRemedy: String?

    package init(reason: String? = nil) { self.reason = reason }

    package var allowsControl: Bool { reason == nil }
}
