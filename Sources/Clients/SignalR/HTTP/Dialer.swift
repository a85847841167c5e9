import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Support

/// Opens TCP connections to hubs, with TLS where the address asks for it.
struct Dialer: Sendable {
    let eventLoop: any EventLoop
    /// The longest that connecting, TLS's handshake not included, may take.
    let timeout: TimeAmount
    let tls: TLSContext
    /// Where the addresses of hosts come from; the system's, if `nil`.
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

    /// What went wrong, for a person.
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
