extension String {
    /// The text without control characters and what is invisible, for a terminal: names come from the network.
    public var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: "\u{FFFD}"
                    default: scalar
                    }
                }))
    }
}
