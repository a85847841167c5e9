import SerialLines
import Support

/// An error of the gateway: a kind to act on, a message for a person, and what caused it.
public struct GatewayError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may come; give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: CaseIterable { case lineUnavailable, invalidProgram }
        let value: Value

        /// The kind as one word.
        public var description: String { "\(value)" }

        /// The line cannot be opened: the device is missing, the port is in use.
        public static let lineUnavailable = Code(value: .lineUnavailable)
        /// The program for the virtual Commodore cannot be started.
        public static let invalidProgram = Code(value: .invalidProgram)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do, for a person.
    public let message: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    init(_ error: LineError) { self.init(.lineUnavailable, error.description, cause: error.cause) }

    /// The message, followed by the cause if there is one. Text from outside is escaped.
    public var description: String {
        guard let cause else { return message.printable }
        return "\(message) (\(cause))".printable
    }
}
