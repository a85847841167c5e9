/// An error of the framework: a kind to act on, a message for a person, and what caused it.
public struct ElementalError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may come; give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value {
            case notConnected, queueFull, outOfRange, notAllowed, datagramTooLarge, udpUnavailable, emptyValue
            case unknownElement, wrongType, catalogueMismatch, catalogueUnavailable, invalidCatalogue, invalidValue
            case connectionFailed, refused, timedOut, cancelled
            case addressInUse, permissionDenied, listeningFailed, invalidState
            case serviceNotFound, discoveryFailed
        }
        let value: Value

        /// The kind as one word, such as `notConnected`.
        public var description: String { "\(value)" }

        /// The device is not connected (any more).
        public static let notConnected = Code(value: .notConnected)
        /// The queue of unsent values has reached its limit.
        public static let queueFull = Code(value: .queueFull)
        /// The value is outside the element's range, or none of its choices.
        public static let outOfRange = Code(value: .outOfRange)
        /// The element does not take values from this end.
        public static let notAllowed = Code(value: .notAllowed)
        /// The value does not fit a datagram.
        public static let datagramTooLarge = Code(value: .datagramTooLarge)
        /// Datagrams cannot be sent on this connection.
        public static let udpUnavailable = Code(value: .udpUnavailable)
        /// The peer cannot take an empty value.
        public static let emptyValue = Code(value: .emptyValue)
        /// The peer has no such element.
        public static let unknownElement = Code(value: .unknownElement)
        /// The value is of another type than the element.
        public static let wrongType = Code(value: .wrongType)
        /// This program and the service define an element differently.
        public static let catalogueMismatch = Code(value: .catalogueMismatch)
        /// The service does not tell its catalogue.
        public static let catalogueUnavailable = Code(value: .catalogueUnavailable)
        /// The service tells a catalogue that cannot be read.
        public static let invalidCatalogue = Code(value: .invalidCatalogue)
        /// The value cannot be encoded.
        public static let invalidValue = Code(value: .invalidValue)
        /// No connection came about.
        public static let connectionFailed = Code(value: .connectionFailed)
        /// The service refused the connection.
        public static let refused = Code(value: .refused)
        /// The time given was over.
        public static let timedOut = Code(value: .timedOut)
        /// The waiting task was cancelled.
        public static let cancelled = Code(value: .cancelled)
        /// The port is taken.
        public static let addressInUse = Code(value: .addressInUse)
        /// The system does not permit it.
        public static let permissionDenied = Code(value: .permissionDenied)
        /// The service cannot listen.
        public static let listeningFailed = Code(value: .listeningFailed)
        /// The call does not fit the object's state, such as a second start.
        public static let invalidState = Code(value: .invalidState)
        /// No such service was found.
        public static let serviceNotFound = Code(value: .serviceNotFound)
        /// Discovery does not work, for instance because the Zeroconf daemon is not running.
        public static let discoveryFailed = Code(value: .discoveryFailed)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do, for a person.
    public let message: String
    /// The error beneath this one, if there is one.
    public let cause: (any Error)?

    /// An error of that kind.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message, with the cause behind it where there is one.
    public var description: String {
        guard let cause else { return message }
        return "\(message) (\(cause))"
    }
}
