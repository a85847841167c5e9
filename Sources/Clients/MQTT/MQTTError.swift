import ClientTransport
import NIOCore
import Support

/// An error of the client: a code to act on, a message for the user, and the cause.
public struct MQTTError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may be added, so give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: CaseIterable {
            case invalidAddress, invalidTopic, invalidOptions, alreadyStarted, notConnected, stopped, cancelled
            case connectionFailed, tlsFailed, timedOut, passwordUnavailable
            case unacceptableVersion, identifierRejected, serverUnavailable, badCredentials, notAuthorised, refused
            case closedByBroker, connectionLost, protocolViolation, messageTooLarge, subscriptionRefused, queueFull
        }
        let value: Value

        /// The kind as one word, such as `notConnected`.
        public var description: String { "\(value)" }

        /// The broker's address is not an `mqtt` or `mqtts` URL with a host.
        public static let invalidAddress = Code(value: .invalidAddress)
        /// The topic or the topic filter is not valid.
        public static let invalidTopic = Code(value: .invalidTopic)
        /// The options contradict each other or are out of range.
        public static let invalidOptions = Code(value: .invalidOptions)
        /// The client runs already, or has run.
        public static let alreadyStarted = Code(value: .alreadyStarted)
        /// There is no connection to the broker, not yet or no longer.
        public static let notConnected = Code(value: .notConnected)
        /// The client was stopped while the call was waiting.
        public static let stopped = Code(value: .stopped)
        /// The waiting task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The broker cannot be reached.
        public static let connectionFailed = Code(value: .connectionFailed)
        /// TLS failed, usually because the broker's certificate is not trusted.
        public static let tlsFailed = Code(value: .tlsFailed)
        /// The broker did not answer in time: while connecting, or to a ping.
        public static let timedOut = Code(value: .timedOut)
        /// The closure that returns the password failed.
        public static let passwordUnavailable = Code(value: .passwordUnavailable)
        /// The broker does not speak MQTT 3.1.1 (CONNACK 1).
        public static let unacceptableVersion = Code(value: .unacceptableVersion)
        /// The broker does not allow the client identifier (CONNACK 2).
        public static let identifierRejected = Code(value: .identifierRejected)
        /// The broker is temporarily unavailable (CONNACK 3).
        public static let serverUnavailable = Code(value: .serverUnavailable)
        /// The user name or password is malformed (CONNACK 4).
        public static let badCredentials = Code(value: .badCredentials)
        /// The broker does not accept this client (CONNACK 5), usually because the password is wrong or missing.
        public static let notAuthorised = Code(value: .notAuthorised)
        /// The broker refused the connection with a code that MQTT 3.1.1 does not define.
        public static let refused = Code(value: .refused)
        /// The broker closed the connection instead of answering.
        public static let closedByBroker = Code(value: .closedByBroker)
        /// The connection broke.
        public static let connectionLost = Code(value: .connectionLost)
        /// The broker violated the protocol.
        public static let protocolViolation = Code(value: .protocolViolation)
        /// A message is larger than the limit.
        public static let messageTooLarge = Code(value: .messageTooLarge)
        /// The broker refused a subscription (SUBACK 0x80).
        public static let subscriptionRefused = Code(value: .subscriptionRefused)
        /// Too many messages wait to be sent, or too many requests are unanswered.
        public static let queueFull = Code(value: .queueFull)
    }

    /// The kind of error.
    public let code: Code
    /// A text for the user: what happened, and what to do.
    public let message: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, followed by the cause if there is one. Text from outside is escaped.
    public var description: String {
        guard let cause else { return message.printable }
        return "\(message) (\(cause))".printable
    }
}

extension MQTTError {
    static func violation(_ what: String) -> MQTTError {
        MQTTError(.protocolViolation, "the broker violated the protocol: \(what)")
    }

    /// - Parameter returnCode: the return code of the CONNACK, 1 or more.
    init(returnCode: UInt8) {
        switch returnCode {
        case 1: self.init(.unacceptableVersion, "the broker does not speak MQTT 3.1.1 (CONNACK 1)")
        case 2:
            self.init(
                .identifierRejected,
                "the broker does not allow this client identifier (CONNACK 2): give another one, or one of at most "
                    + "23 letters and digits")
        case 3:
            self.init(.serverUnavailable, "the broker is temporarily unavailable (CONNACK 3): try again later")
        case 4:
            self.init(.badCredentials, "the broker cannot use the user name or password (CONNACK 4): check both")
        case 5:
            self.init(
                .notAuthorised,
                "the broker does not accept this client (CONNACK 5): check user and password. A mosquitto without "
                    + "`allow_anonymous true` in its configuration accepts only users of its `password_file`")
        default: self.init(.refused, "the broker refused the connection with the unknown code \(returnCode)")
        }
    }

    /// Whether a retry with the same address and options will fail too, unless the broker is changed.
    var isLasting: Bool {
        [
            .invalidAddress, .invalidOptions, .tlsFailed, .unacceptableVersion, .identifierRejected, .badCredentials,
            .notAuthorised, .passwordUnavailable,
        ].contains(code)
    }

    static let notConnected = MQTTError(.notConnected, "there is no connection to the broker at the moment")

    /// Why a connection could not be made, in words that a user can act on.
    init(connecting error: any Error, _ address: MQTTAddress) {
        if let error = error as? IOError, error.errnoCode == ECONNRESET || error.errnoCode == EPIPE {
            self = .closed(address)
            return
        }
        let what = "cannot connect to \(address)"
        switch ConnectFailure(error) {
        case .timedOut(let reason): self.init(.timedOut, "\(what): \(reason)")
        case .unreachable(let reason): self.init(.connectionFailed, "\(what): \(reason)")
        case .tls(let failure): self.init(.tlsFailed, "\(what): TLS failed", cause: failure.adding(Self.hint(failure)))
        case .other(let error as MQTTError): self = error
        case .other(let error): self.init(.connectionFailed, what, cause: error)
        }
    }

    private static func hint(_ failure: TLSFailure) -> String {
        switch failure.kind {
        case .noTLS: "; did you mean mqtt://?"
        // A mosquitto without TLS on this port reads the handshake as a malformed packet and closes the connection.
        case .closed: "; does it speak TLS on this port, or did you mean mqtt://?"
        case .untrustedCertificate: "; if a private authority has signed it, trust that authority's certificate"
        default: ""
        }
    }

    /// The broker closed the connection instead of answering CONNECT.
    static func closed(_ address: MQTTAddress) -> MQTTError {
        let other = address.isSecure ? "no TLS on this port (did you mean mqtt://?)" : "TLS on this port (mqtts://)"
        let causes = "it may expect \(other), not speak MQTT there, or not accept this client"
        return MQTTError(
            .closedByBroker, "\(address) closed the connection without an answer: \(causes). Its log may say more")
    }

    /// - Parameter error: `nil` if the broker closed it.
    static func lost(_ error: (any Error)?, clientID: String) -> MQTTError {
        guard let error else {
            return MQTTError(
                .connectionLost,
                "the broker closed the connection. It does so when it stops, and when another client connects with the "
                    + "same identifier ('\(clientID.printable)')")
        }
        let what = "the connection to the broker broke"
        switch ConnectFailure(error) {
        case .timedOut(let reason), .unreachable(let reason): return MQTTError(.connectionLost, "\(what): \(reason)")
        case .tls(let failure): return MQTTError(.connectionLost, what, cause: failure)
        case .other(let error): return MQTTError(.connectionLost, what, cause: error)
        }
    }
}
