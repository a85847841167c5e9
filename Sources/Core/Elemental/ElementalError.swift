import Support

/// An error of this framework: a code to act on, a human-readable message, and the underlying cause.
public struct ElementalError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may be added; give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: CaseIterable {
            case notConnected, queueFull, outOfRange, notAllowed, datagramTooLarge, udpUnavailable, emptyValue
            case unknownElement, wrongType, catalogueMismatch, catalogueUnavailable, invalidCatalogue, invalidValue
            case connectionFailed, refused, unauthenticated, timedOut, cancelled
            case addressInUse, permissionDenied, listeningFailed, invalidState
            case serviceNotFound, hostNotFound, discoveryFailed
            case notPaired, identityChanged, wrongCode, pairingClosed, nameTaken, notAuthorised
        }
        let value: Value

        /// The kind as one word, such as `notConnected`.
        public var description: String { "\(value)" }

        /// The device is not connected, or no longer connected.
        public static let notConnected = Code(value: .notConnected)
        /// The queue of unsent values has reached its limit.
        public static let queueFull = Code(value: .queueFull)
        /// The value is outside the element's range, or not one of its choices.
        public static let outOfRange = Code(value: .outOfRange)
        /// The element does not accept values from this end.
        public static let notAllowed = Code(value: .notAllowed)
        /// The value does not fit in a datagram.
        public static let datagramTooLarge = Code(value: .datagramTooLarge)
        /// Datagrams cannot be sent on this connection.
        public static let udpUnavailable = Code(value: .udpUnavailable)
        /// The peer does not accept empty values.
        public static let emptyValue = Code(value: .emptyValue)
        /// The peer has no such element.
        public static let unknownElement = Code(value: .unknownElement)
        /// The value is of another type than the element.
        public static let wrongType = Code(value: .wrongType)
        /// This program and the service define an element differently.
        public static let catalogueMismatch = Code(value: .catalogueMismatch)
        /// The service did not send its catalogue.
        public static let catalogueUnavailable = Code(value: .catalogueUnavailable)
        /// The service sent a catalogue that cannot be decoded.
        public static let invalidCatalogue = Code(value: .invalidCatalogue)
        /// The value cannot be encoded, or is longer than a frame can be.
        public static let invalidValue = Code(value: .invalidValue)
        /// The connection could not be established.
        public static let connectionFailed = Code(value: .connectionFailed)
        /// The service refused the value, or refused the connection after it had proven its identity.
        public static let refused = Code(value: .refused)
        /// The connection was refused without encryption, before it was ready. The reason in the message is not
        /// authenticated. If the service accepts paired clients only, pair first.
        public static let unauthenticated = Code(value: .unauthenticated)
        /// The timeout expired.
        public static let timedOut = Code(value: .timedOut)
        /// The waiting task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The port is already in use.
        public static let addressInUse = Code(value: .addressInUse)
        /// The system denied permission.
        public static let permissionDenied = Code(value: .permissionDenied)
        /// The service cannot listen.
        public static let listeningFailed = Code(value: .listeningFailed)
        /// The call is invalid in the object's current state, such as a second start.
        public static let invalidState = Code(value: .invalidState)
        /// No such service was found.
        public static let serviceNotFound = Code(value: .serviceNotFound)
        /// The host's name cannot be resolved.
        public static let hostNotFound = Code(value: .hostNotFound)
        /// Discovery does not work, for instance because the Zeroconf daemon is not running.
        public static let discoveryFailed = Code(value: .discoveryFailed)
        /// Both ends have to be paired first: the service accepts paired clients only, or this client accepts paired
        /// services only.
        public static let notPaired = Code(value: .notPaired)
        /// A peer with a paired service's name has another identity than the one that was paired; or the identity of
        /// this end was replaced while it was used.
        public static let identityChanged = Code(value: .identityChanged)
        /// The pairing code or secret is wrong, or an attacker between the two ends interferes.
        public static let wrongCode = Code(value: .wrongCode)
        /// The service is not open for pairing now.
        public static let pairingClosed = Code(value: .pairingClosed)
        /// The service has stored another client under this one's name: pair under another name.
        public static let nameTaken = Code(value: .nameTaken)
        /// The client's role does not permit this.
        public static let notAuthorised = Code(value: .notAuthorised)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do about it, in human-readable form.
    public let message: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?

    /// Creates an error with that code.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, followed by the cause in parentheses if there is one. Text from outside is escaped.
    public var description: String {
        guard let cause else { return message.printable }
        return "\(message) (\(cause))".printable
    }
}
