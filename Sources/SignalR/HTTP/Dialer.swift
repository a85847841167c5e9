import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
                        try channel.pipeline.syncOperations.addHandler(tls.handler(for: address.host))
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
        switch error {
        case ChannelError.connectTimeout(let time):
            return SignalRError(.timedOut, "\(what): no answer within \(time.nanoseconds / 1_000_000_000) s")
        case let error as NIOConnectionError:
            if let dns = error.dnsAError ?? error.dnsAAAAError, error.connectionErrors.isEmpty {
                return SignalRError(.connectionFailed, "\(what): the host is not known", cause: dns)
            }
            return error.connectionErrors.first.map { explain($0.error, address) }
                ?? SignalRError(.connectionFailed, what, cause: error)
        case let error as HTTPParserError:
            return SignalRError(.protocolViolation, "\(address.hostHeader) does not speak HTTP", cause: error)
        case let error as NIOSSLError:
            return SignalRError(.tlsFailed, "\(what): TLS failed", cause: error)
        case let error as NIOSSLExtraError:
            return SignalRError(.tlsFailed, "\(what): TLS failed", cause: error)
        case let error as IOError:
            return SignalRError(.connectionFailed, "\(what): \(String(cString: strerror(error.errnoCode)))")
        default:
            return SignalRError(.connectionFailed, what, cause: error)
        }
    }
}
