extension StringProtocol {
    /// The text for an error message: whole if it is short, otherwise its beginning and its length.
    ///
    /// Counted in scalars, since one character may have any number of combining marks.
    package var excerpt: String {
        let limit = 100
        guard utf8.count > limit else { return String(self) }
        let beginning = unicodeScalars.prefix(limit)
        guard beginning.endIndex < endIndex else { return String(self) }
        return String(String.UnicodeScalarView(beginning)) + "… (\(utf8.count) bytes)"
    }
}
