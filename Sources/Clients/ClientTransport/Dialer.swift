package import NIOCore
package import NIOPosix

/// Opens TCP connections to servers, with TLS where the server has it.
package struct Dialer: Sendable {
    package let eventLoop: any EventLoop
    /// The longest that connecting may take, without the TLS handshake.
    package let timeout: TimeAmount
    package let tls: TLSContext
    /// Resolves host names; the system's resolver if `nil`.
    package var resolver: (any Resolver & Sendable)?

    package init(
        eventLoop: any EventLoop, timeout: TimeAmount, tls: TLSContext, resolver: (any Resolver & Sendable)? = nil
    ) {
        self.eventLoop = eventLoop
        self.timeout = timeout
        self.tls = tls
        self.resolver = resolver
    }

    /// Connects, and adds handlers before anything is read.
    package func connect(
        to endpoint: ServerEndpoint, configure: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: eventLoop)
            .resolver(resolver)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if endpoint.isSecure {
                        try channel.pipeline.syncOperations.addHandlers(
                            tls.handler(for: endpoint.host), TLSFailureHandler())
                    }
                    try configure(channel)
                }
            }
            .connect(host: endpoint.host, port: endpoint.port)
    }
}
