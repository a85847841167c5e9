import NIOCore
import SerialLines
import Support

/// An error of the gateway: a code to act on, and a message for the user.
public struct GatewayError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may be added, so give a `switch` a default.
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
    /// A text for the user: what happened, and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message. Text from outside is escaped.
    public var description: String { message.printable }
}

extension LinePlace {
    func line(on eventLoop: any EventLoop) async throws(GatewayError) -> NIOLoopBound<any Line> {
        do throws(LineError) {
            return try await open(on: eventLoop)
        } catch {
            throw GatewayError(.lineUnavailable, error.description)
        }
    }
}
