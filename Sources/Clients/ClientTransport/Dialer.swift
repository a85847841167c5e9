package import NIOCore
package import NIOPosix
package import NIOSSL
internal import Support

/// Opens TCP connections to servers, with TLS if the endpoint is secure.
package final class Dialer: Sendable {
    package let eventLoop: any EventLoop
    /// The maximum time to connect. The TLS handshake is not included.
    package let timeout: TimeAmount
    private let tls: TLSConfiguration?
    /// Created on first use: reading the system's certificates takes some milliseconds.
    private let context = Locked<NIOSSLContext?>(nil)
    private let resolver: (any Resolver & Sendable)?

    /// - Parameter tls: `nil` for the system's defaults.
    package init(
        eventLoop: any EventLoop, timeout: TimeAmount, tls: TLSConfiguration?,
        resolver: (any Resolver & Sendable)? = nil
    ) {
        self.eventLoop = eventLoop
        self.timeout = timeout
        self.tls = tls
        self.resolver = resolver
    }

    /// Connects. `configure` adds handlers before the channel reads anything.
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
                            self.tlsHandler(for: endpoint.host), TLSFailureHandler())
                    }
                    try configure(channel)
                }
            }
            .connect(host: endpoint.host, port: endpoint.port)
    }

    private func tlsHandler(for host: String) throws -> NIOSSLClientHandler {
        let context = try context.withLock { context in
            let made = try context ?? NIOSSLContext(configuration: tls ?? .makeClientConfiguration())
            context = made
            return made
        }
        // TLS sends host names, not addresses (RFC 6066, 3). An address is still verified against the certificate.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}

extension TLSConfiguration? {
    /// Returns the configuration with additional trusted certificates.
    ///
    /// - Parameter pem: the content of a file with one or more certificates in PEM form.
    /// - Throws: the TLS library's error if there is no certificate in it.
    package func trusting(pem: some Sequence<UInt8>) throws -> TLSConfiguration {
        var configuration = self ?? .makeClientConfiguration()
        configuration.additionalTrustRoots.append(.certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem))))
        return configuration
    }
}
