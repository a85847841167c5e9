/// Why a test's surroundings are not as they should be, with all that helps to find out.
public struct TestSupportError: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
