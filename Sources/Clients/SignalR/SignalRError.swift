/// An error of the client: a kind to act on, a message for a person, and what caused it.
public struct SignalRError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may come; give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value {
            case invalidURL, invalidOptions, alreadyStarted, notConnected, reconnecting, stopped, cancelled
            case connectionFailed, tlsFailed, timedOut, refused, negotiationFailed, noTransport, handshakeFailed
            case connectionLost, serverTimeout, closedByServer, protocolViolation, messageTooLarge
            case invocationFailed, invalidArgument, invalidResult, bufferOverflow
        }
        let value: Value

        /// The kind as one word, such as `notConnected`.
        public var description: String { "\(value)" }

        /// The hub's address is not one of `http`, `https`, `ws` or `wss` with a host.
        public static let invalidURL = Code(value: .invalidURL)
        /// The options contradict each other.
        public static let invalidOptions = Code(value: .invalidOptions)
        /// The connection is started already.
        public static let alreadyStarted = Code(value: .alreadyStarted)
        /// The connection is not open (yet, or any more).
        public static let notConnected = Code(value: .notConnected)
        /// The connection was lost and is being made again; nothing can be called meanwhile.
        public static let reconnecting = Code(value: .reconnecting)
        /// The connection was stopped while the call was waiting.
        public static let stopped = Code(value: .stopped)
        /// The waiting task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The server cannot be reached.
        public static let connectionFailed = Code(value: .connectionFailed)
        /// TLS failed: most often the server's certificate is not one that is trusted.
        public static let tlsFailed = Code(value: .tlsFailed)
        /// The time for a step of opening the connection was over.
        public static let timedOut = Code(value: .timedOut)
        /// The server answered a request with an HTTP status that is no success; see ``SignalRError/httpStatus``.
        public static let refused = Code(value: .refused)
        /// The server's answer to the negotiation is an error, or cannot be used.
        public static let negotiationFailed = Code(value: .negotiationFailed)
        /// None of the transports worked.
        public static let noTransport = Code(value: .noTransport)
        /// The hub refused the handshake.
        public static let handshakeFailed = Code(value: .handshakeFailed)
        /// The connection broke.
        public static let connectionLost = Code(value: .connectionLost)
        /// Nothing came from the server for longer than the server timeout.
        public static let serverTimeout = Code(value: .serverTimeout)
        /// The hub closed the connection with an error.
        public static let closedByServer = Code(value: .closedByServer)
        /// The server sent what the protocol does not allow.
        public static let protocolViolation = Code(value: .protocolViolation)
        /// A message is larger than the limit.
        public static let messageTooLarge = Code(value: .messageTooLarge)
        /// The hub method failed; the message is the hub's.
        public static let invocationFailed = Code(value: .invocationFailed)
        /// An argument or stream item cannot be encoded.
        public static let invalidArgument = Code(value: .invalidArgument)
        /// A result, stream item or argument is not of the type that was asked for.
        public static let invalidResult = Code(value: .invalidResult)
        /// More came than was consumed, up to the limit of what is kept.
        public static let bufferOverflow = Code(value: .bufferOverflow)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do, for a person. For ``Code/invocationFailed`` the hub's own words.
    public let message: String
    /// The HTTP status that the server answered with, where the error is one.
    public let httpStatus: Int?
    /// The error beneath this one, if there is one.
    public let cause: (any Error)?

    /// An error of that kind.
    public init(_ code: Code, _ message: String, httpStatus: Int? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
        self.cause = cause
    }

    /// The message, with the cause behind it where there is one.
    public var description: String {
        guard let cause else { return message }
        return "\(message) (\(cause))"
    }
}
