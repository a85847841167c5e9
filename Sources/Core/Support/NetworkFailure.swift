internal import NIOCore
import NIOPosix

/// The reason why a connection failed or broke, in words that a user can act on, from an error of SwiftNIO's.
package struct NetworkFailure {
    package enum Kind: Sendable {
        case unknownHost
        /// The peer did not answer within this time.
        case timedOut(Duration)
        case other
    }

    package let kind: Kind
    /// What happened and, where possible, what to do.
    package let reason: String
    /// The original error. If several addresses were tried, it is the first address's.
    package let error: any Error

    package init(_ error: any Error) {
        var error = error
        var isUnknownHost = error is SocketAddressError.UnknownHost
        if let connecting = error as? NIOConnectionError {
            if let first = connecting.connectionErrors.first {
                error = first.error
            } else if let unknown = connecting.dnsAError ?? connecting.dnsAAAAError {
                error = unknown
                isUnknownHost = true
            }
        }
        self.error = error
        switch error {
        case let unknown as SocketAddressError.UnknownHost:
            kind = .unknownHost
            reason = "the host is unknown (\(unknown.errorDescription))"
        case _ where isUnknownHost:
            kind = .unknownHost
            reason = "the host is unknown (\(error))"
        case ChannelError.connectTimeout(let time):
            kind = .timedOut(.nanoseconds(time.nanoseconds))
            reason = "no answer within \(Duration.nanoseconds(time.nanoseconds))"
        case let error as IOError:
            kind = .other
            reason = Self.reason(error.errnoCode)
        default:
            kind = .other
            reason = String(describing: error)
        }
    }

    private static func reason(_ code: CInt) -> String {
        switch code {
        case ECONNRESET, EPIPE: "the peer reset the connection (its program was killed or refused the data)"
        case ETIMEDOUT: "the peer no longer answers"
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN: "the peer's network is unreachable"
        case EMFILE, ENFILE: "this process cannot open more files and sockets; raise the limit (ulimit -n)"
        case ECONNREFUSED: "nothing listens there"
        default: String(systemError: code)
        }
    }
}

extension String {
    /// The system's description of an error number, such as "No such file or directory".
    package init(systemError code: CInt) { self.init(cString: strerror(code)) }
}
