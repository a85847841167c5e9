import Support

/// An error of the client: a code to act on, a message for the user, and the cause.
public struct SignalRError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may be added, so give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: CaseIterable {
            case invalidURL, invalidOptions, alreadyStarted, notConnected, reconnecting, stopped, cancelled
            case connectionFailed, tlsFailed, timedOut, refused, negotiationFailed, noTransport, handshakeFailed
            case connectionLost, serverTimeout, closedByServer, protocolViolation, messageTooLarge
            case invocationFailed, invalidArgument, invalidResult, bufferOverflow
        }
        let value: Value

        /// The kind as one word, such as `notConnected`.
        public var description: String { "\(value)" }

        /// The hub's address is not an `http`, `https`, `ws` or `wss` URL with a host.
        public static let invalidURL = Code(value: .invalidURL)
        /// The options contradict each other.
        public static let invalidOptions = Code(value: .invalidOptions)
        /// The connection is started already.
        public static let alreadyStarted = Code(value: .alreadyStarted)
        /// The connection is not open, not yet or no longer.
        public static let notConnected = Code(value: .notConnected)
        /// The connection was lost and is reconnecting; nothing can be called until it is open again.
        public static let reconnecting = Code(value: .reconnecting)
        /// The connection was stopped while the call was waiting.
        public static let stopped = Code(value: .stopped)
        /// The waiting task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The server cannot be reached.
        public static let connectionFailed = Code(value: .connectionFailed)
        /// TLS failed, usually because the server's certificate is not trusted.
        public static let tlsFailed = Code(value: .tlsFailed)
        /// A step of opening the connection took too long.
        public static let timedOut = Code(value: .timedOut)
        /// The server answered a request with an HTTP status other than success; see ``SignalRError/httpStatus``.
        public static let refused = Code(value: .refused)
        /// The server's answer to the negotiation is an error, or cannot be used.
        public static let negotiationFailed = Code(value: .negotiationFailed)
        /// None of the transports worked.
        public static let noTransport = Code(value: .noTransport)
        /// The hub refused the handshake.
        public static let handshakeFailed = Code(value: .handshakeFailed)
        /// The connection broke.
        public static let connectionLost = Code(value: .connectionLost)
        /// Nothing was received from the server for longer than the server timeout.
        public static let serverTimeout = Code(value: .serverTimeout)
        /// The hub closed the connection with an error.
        public static let closedByServer = Code(value: .closedByServer)
        /// The server violated the protocol.
        public static let protocolViolation = Code(value: .protocolViolation)
        /// A message is larger than the limit.
        public static let messageTooLarge = Code(value: .messageTooLarge)
        /// The hub method failed; the message comes from the hub.
        public static let invocationFailed = Code(value: .invocationFailed)
        /// An argument or stream item cannot be encoded.
        public static let invalidArgument = Code(value: .invalidArgument)
        /// A result, stream item or argument is not of the requested type.
        public static let invalidResult = Code(value: .invalidResult)
        /// More was received than consumed, and a buffer reached its limit.
        public static let bufferOverflow = Code(value: .bufferOverflow)
    }

    /// The kind of error.
    public let code: Code
    /// A text for the user: what happened, and what to do. For ``Code/invocationFailed`` it is the hub's own message.
    public let message: String
    /// The HTTP status of the server's answer, if the error is about one.
    public let httpStatus: Int?
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ message: String, httpStatus: Int? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
        self.cause = cause
    }

    /// The message, followed by the cause if there is one. Text from outside is escaped.
    public var description: String {
        guard let cause else { return message.printable }
        return "\(message) (\(cause))".printable
    }
}
