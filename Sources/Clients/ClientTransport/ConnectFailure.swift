internal import NIOCore
internal import Support

/// Why a connection to a server could not be made, or broke: what the errors of the clients have in common.
package enum ConnectFailure: Sendable {
    /// Nobody answered within the time.
    case timedOut(reason: String)
    /// The host is not known, or the system refused, in words that a user can act on.
    case unreachable(reason: String)
    case tls(TLSFailure)
    /// An error that only the client itself can explain.
    case other(any Error)

    package init(_ error: any Error) {
        let failure = NetworkFailure(error)
        switch (failure.kind, failure.error) {
        case (.timedOut, _): self = .timedOut(reason: failure.reason)
        case (.unknownHost, _), (.other, is IOError): self = .unreachable(reason: failure.reason)
        case (.other, let error): self = TLSFailure(error).map { .tls($0) } ?? .other(error)
        }
    }
}
