/// Why a test's surroundings are not as they should be, with all that helps to find out.
public struct TestSupportError: Error, CustomStringConvertible {
    /// What happened.
    public let description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }
}
