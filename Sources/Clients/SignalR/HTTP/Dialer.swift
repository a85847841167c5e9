import ClientTransport
import NIOCore
import NIOHTTP1

extension Dialer {
    /// Connects, and adds handlers before anything is read.
    func connect(
        to address: HubAddress, configure: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> { connect(to: address.endpoint, configure: configure) }

    /// What went wrong, in words that a user can act on.
    static func explain(_ error: any Error, _ address: HubAddress) -> SignalRError {
        if let error = error as? SignalRError { return error }
        let what = "cannot connect to \(address.hostHeader)"
        switch ConnectFailure(error) {
        case .timedOut(let reason): return SignalRError(.timedOut, "\(what): \(reason)")
        case .unreachable(let reason): return SignalRError(.connectionFailed, "\(what): \(reason)")
        case .tls(let failure):
            let cause = failure.kind == .noTLS ? failure.adding("; did you mean http:// or ws://?") : failure
            return SignalRError(.tlsFailed, "\(what): TLS failed", cause: cause)
        case .other(let error as SignalRError): return error
        case .other(HTTPParserError.invalidEOFState):
            return SignalRError(
                .connectionLost, "\(address.hostHeader) closed the connection in the middle of an answer")
        case .other(let error as HTTPParserError):
            return SignalRError(.protocolViolation, "\(address.hostHeader) does not speak HTTP", cause: error)
        case .other(let error): return SignalRError(.connectionFailed, what, cause: error)
        }
    }
}
