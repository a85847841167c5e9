import Logging
import NIOCore
import NIOPosix

/// A client's access to the outside world: channels, Zeroconf and a clock. The real ones, except in tests that simulate
/// a network.
protocol ClientNetwork: Sendable {
    /// The clock that reconnection is timed by.
    var now: ContinuousClock.Instant { get }

    /// Delivers what Zeroconf reports about the services of one name, on the event loop, until the result is released.
    func watch(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) -> AnyObject

    /// Opens a stream to a service, which reads nothing until reading is enabled.
    ///
    /// - Parameter name: the service's, for resolving a host name.
    func connect(
        to endpoint: Connector.Endpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel>

    /// Opens a datagram channel that is connected to a service.
    ///
    /// - Parameter local: the local address to bind to; `nil` for any.
    func openDatagrams(
        to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel>
}

/// Sockets, the system's Zeroconf and the system's clock.
struct SystemNetwork: ClientNetwork {
    var now: ContinuousClock.Instant { .now }

    func watch(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) -> AnyObject { ServiceWatch(service, logger: logger, on: eventLoop, handler) }

    func connect(
        to endpoint: Connector.Endpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        var bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(options.timeout))
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: Session.receiveAllocator)
        for (option, value) in TCPWatch.options(
            interval: options.limits.heartbeatInterval, silence: options.limits.maximumSilence)
        {
            bootstrap = bootstrap.channelOption(option, value: value)
        }
        switch endpoint {
        case .host(let host, let port):
            if let address = try? SocketAddress(ipAddress: host, port: port) {
                return bootstrap.connect(to: address)
            }
            return bootstrap.connect(host: host, port: port)
        case .addresses(let addresses):
            bootstrap = bootstrap.resolver(FixedResolver(addresses, eventLoop: eventLoop))
            return bootstrap.connect(host: name, port: addresses.first?.port ?? 0)
        }
    }

    func openDatagrams(
        to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let bootstrap = DatagramBootstrap.elemental(on: eventLoop).channelInitializer(initialize)
        guard let local else { return bootstrap.connect(to: remote) }
        return bootstrap.bind(to: local).flatMap { channel in channel.connect(to: remote).map { channel } }
    }
}
