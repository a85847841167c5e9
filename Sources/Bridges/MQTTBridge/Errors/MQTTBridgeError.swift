internal import Support

/// A mistake in a bridge's options.
public struct MQTTBridgeError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let message: String
    public var description: String { message.printable }

    init(_ message: String) { self.message = message }
}
