import CDNSSD
import Support

/// A failure to publish, browse or resolve, in words that a user can act on.
public struct ZeroconfError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure. More kinds may be added, so a `switch` over it needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        enum Value: CaseIterable {
            case daemonUnavailable, nameConflict, timedOut, invalidName, invalidType, invalidPort, invalidTXTRecord
            case refused, cancelled, system
        }
        let value: Value

        /// The code's name, as in the source.
        public var description: String { "\(value)" }

        /// The Zeroconf daemon (avahi-daemon, mDNSResponder) is not running, went away, or does not answer.
        public static let daemonUnavailable = Code(value: .daemonUnavailable)
        /// The name is taken and no other could be found.
        public static let nameConflict = Code(value: .nameConflict)
        /// No answer arrived in time.
        public static let timedOut = Code(value: .timedOut)
        /// A service name that cannot be published: empty, over 63 bytes of UTF-8, or with control characters.
        public static let invalidName = Code(value: .invalidName)
        /// A service type that is not of the form `_robot._tcp`.
        public static let invalidType = Code(value: .invalidType)
        /// A port outside 1...65535.
        public static let invalidPort = Code(value: .invalidPort)
        /// A TXT record with a key that is not allowed, an entry over 255 bytes, or too many bytes in all.
        public static let invalidTXTRecord = Code(value: .invalidTXTRecord)
        /// The daemon refused: it has too many clients or objects, or its policy forbids it.
        public static let refused = Code(value: .refused)
        /// The task was cancelled, or the publisher or browser was stopped.
        public static let cancelled = Code(value: .cancelled)
        /// The library or the daemon returned an error that no other code describes; see ``cause``.
        public static let system = Code(value: .system)
    }

    /// The kind of failure.
    public let code: Code
    /// What happened and what to do.
    public let message: String
    /// The underlying error, usually a ``DNSServiceError``.
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Code, message and cause in one line.
    public var description: String {
        guard let cause else { return "\(code): \(message)".printable }
        return "\(code): \(message) [\(cause)]".printable
    }
}

/// An error number of dns_sd.h.
public struct DNSServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number. Those of dns_sd.h lie between -65792 and -65537.
    public let rawValue: Int32

    /// Creates an error from the number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The number after the words "dns_sd error".
    public var description: String { "dns_sd error \(rawValue)" }

    static let nameConflict = DNSServiceError(rawValue: Int32(kDNSServiceErr_NameConflict))
}

extension ZeroconfError {
    /// How to start the daemon on this platform.
    static var daemonAdvice: String {
        #if os(Linux)
        "start it with: sudo systemctl start avahi-daemon "
            + "(if it is not installed: sudo apt-get install avahi-daemon), and make sure that D-Bus is running"
        #else
        "mDNSResponder is part of the system and should be running: check the local network permission, or restart"
        #endif
    }

    static func daemonUnavailable(while doing: String, cause: DNSServiceError?) -> ZeroconfError {
        ZeroconfError(
            .daemonUnavailable,
            "\(doing): the Zeroconf daemon is not running, went away or does not answer; \(daemonAdvice)",
            cause: cause
        )
    }

    /// Translates an error of a dns_sd call or of its callback.
    ///
    /// Avahi maps an absent daemon, a lost D-Bus connection and a time-out to Unknown (map_error in its compat.c), so
    /// Unknown counts as an absent daemon; mDNSResponder has separate codes for these.
    static func translating(_ error: DNSServiceError, while doing: String) -> ZeroconfError {
        switch Int(error.rawValue) {
        case Int(kDNSServiceErr_Unknown), -65563 /* ServiceNotRunning */, -65569 /* DefunctConnection */:
            return daemonUnavailable(while: doing, cause: error)
        case Int(kDNSServiceErr_NameConflict):
            return ZeroconfError(.nameConflict, "\(doing): the name is in use; choose another", cause: error)
        case Int(kDNSServiceErr_Refused):
            let message =
                "\(doing): the daemon refused; it may have reached its limit of clients or objects "
                + "(clients-max, objects-per-client-max and entries-per-entry-group-max in avahi-daemon.conf)"
            return ZeroconfError(.refused, message, cause: error)
        case -65568 /* Timeout */:
            return ZeroconfError(.timedOut, "\(doing): no answer from the network", cause: error)
        case -65570 /* PolicyDenied */:
            return ZeroconfError(
                .refused,
                "\(doing): not permitted; add the service type to NSBonjourServices and a "
                    + "NSLocalNetworkUsageDescription to Info.plist, and allow local network access in Settings",
                cause: error
            )
        default:
            return ZeroconfError(.system, "\(doing): the Zeroconf library reported an error", cause: error)
        }
    }
}
