import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Support

/// Opens TCP connections to hubs, with TLS if the address requires it.
struct Dialer: Sendable {
    let eventLoop: any EventLoop
    /// The longest that connecting may take, without the TLS handshake.
    let timeout: TimeAmount
    let tls: TLSContext
    /// Resolves host names; the system's resolver if `nil`.
    var resolver: (any Resolver & Sendable)?

    /// Connects, and adds handlers before anything is read.
    func connect(
        to address: HubAddress, configure: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: eventLoop)
            .resolver(resolver)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if address.isSecure {
                        try channel.pipeline.syncOperations.addHandlers(
                            tls.handler(for: address.host), TLSFailureHandler())
                    }
                    try configure(channel)
                }
            }
            .connect(host: address.host, port: address.port)
    }

    /// What went wrong, in words that a user can act on.
    static func explain(_ error: any Error, _ address: HubAddress) -> SignalRError {
        if let error = error as? SignalRError { return error }
        let what = "cannot connect to \(address.hostHeader)"
        let failure = NetworkFailure(error)
        switch (failure.kind, failure.error) {
        case (.timedOut, _): return SignalRError(.timedOut, "\(what): \(failure.reason)")
        case (.unknownHost, _), (.other, is IOError):
            return SignalRError(.connectionFailed, "\(what): \(failure.reason)")
        case (.other, let error as SignalRError): return error
        case (.other, HTTPParserError.invalidEOFState):
            return SignalRError(
                .connectionLost, "\(address.hostHeader) closed the connection in the middle of an answer")
        case (.other, let error as HTTPParserError):
            return SignalRError(.protocolViolation, "\(address.hostHeader) does not speak HTTP", cause: error)
        case (.other, let error):
            guard let failure = TLSFailure(error) else {
                return SignalRError(.connectionFailed, what, cause: error)
            }
            return SignalRError(.tlsFailed, "\(what): TLS failed", cause: failure)
        }
    }
}
