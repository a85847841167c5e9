/// Why a line cannot be opened, and what to do.
package struct LineError: Error, CustomStringConvertible {
    package let description: String
    /// The underlying error, if it is not in the words.
    package let cause: (any Error)?

    package init(_ description: String, cause: (any Error)? = nil) {
        self.description = description
        self.cause = cause
    }
}
