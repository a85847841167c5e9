/// The names that a store accepts. They are shown to users, and came from a network or a file.
enum TrustName {
    /// The maximum for clients, services and instances.
    static let maximumByteCount = 64
    /// The maximum for a host: DNS's maximum plus an interface.
    static let maximumHostByteCount = 300

    /// Whether a text is not empty, not too long, and has no characters that control a terminal or the direction of
    /// text.
    static func isValid(_ text: String, maximumByteCount: Int = maximumByteCount) -> Bool {
        (1...maximumByteCount).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(isVisible)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        // Overrides, embeddings and isolates of the bidirectional algorithm.
        case .format: !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
        default: true
        }
    }
}
