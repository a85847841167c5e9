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

    /// The system's words for an error, without the call of SwiftNIO's that met it.
    static func reason(_ error: IOError) -> String { String(cString: strerror(error.errnoCode)) }

    /// What went wrong, for a person.
    static func explain(_ error: any Error, _ address: HubAddress) -> SignalRError {
        if let error = error as? SignalRError { return error }
        let what = "cannot connect to \(address.hostHeader)"
        switch error {
        case ChannelError.connectTimeout(let time):
            return SignalRError(.timedOut, "\(what): no answer within \(time.nanoseconds / 1_000_000_000) s")
        case let error as NIOConnectionError:
            if let dns = error.dnsAError ?? error.dnsAAAAError, error.connectionErrors.isEmpty {
                let reason = (dns as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(dns)"
                return SignalRError(.connectionFailed, "\(what): the host is not known (\(reason))")
            }
            return error.connectionErrors.first.map { explain($0.error, address) }
                ?? SignalRError(.connectionFailed, what, cause: error)
        case HTTPParserError.invalidEOFState:
            return SignalRError(
                .connectionLost, "\(address.hostHeader) closed the connection in the middle of an answer")
        case let error as HTTPParserError:
            return SignalRError(.protocolViolation, "\(address.hostHeader) does not speak HTTP", cause: error)
        case let error as IOError:
            return SignalRError(.connectionFailed, "\(what): \(reason(error))")
        default:
            guard let failure = TLSFailure(error) else {
                return SignalRError(.connectionFailed, what, cause: error)
            }
            return SignalRError(.tlsFailed, "\(what): TLS failed", cause: failure)
        }
    }
}
