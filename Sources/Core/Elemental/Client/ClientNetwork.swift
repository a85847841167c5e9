import Logging
import NIOCore
import NIOPosix
import Support

/// A client's access to channels, Zeroconf and a clock, which tests simulate.
protocol ClientNetwork: Sendable {
    var now: ContinuousClock.Instant { get }

    /// The watch ends when the result is released.
    func watch(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) -> AnyObject

    /// The channel does not read automatically.
    func connect(
        to endpoint: ServiceEndpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel>

    func openDatagrams(
        to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel>
}

struct SystemNetwork: ClientNetwork {
    private struct WeakBrowser {
        weak var browser: ElementalBrowser?
    }

    /// All watches of a name share a browser. A browser takes up to four threads and D-Bus connections, and the system
    /// permits 256 of those per user.
    private static let browsers = Locked<[ComparableName: WeakBrowser]>([:])

    private static func browser(for service: String, _ logger: Logger) -> ElementalBrowser {
        browsers.withLock { browsers in
            let key = ComparableName(service)
            if let browser = browsers[key]?.browser { return browser }
            let browser = ElementalBrowser(service, logger: logger)
            browsers = browsers.filter { $0.value.browser != nil }
            browsers[key] = WeakBrowser(browser: browser)
            return browser
        }
    }

    var now: ContinuousClock.Instant { .now }

    func watch(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) -> AnyObject {
        let handler = NIOLoopBound(handler, eventLoop: eventLoop)
        let browser = Self.browser(for: service, logger)
        let task = Task {
            do {
                for await event in try browser.events() { eventLoop.execute { handler.value(event) } }
            } catch {
                logger.warning("cannot look for the service", metadata: ["service": "\(service)", "error": "\(error)"])
            }
        }
        return WatchToken { task.cancel() }
    }

    func connect(
        to endpoint: ServiceEndpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        var bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(options.timeout))
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: ByteChannel.receiveAllocator)
        for (option, value) in TCPWatch.options(options.limits) {
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

/// Returns known addresses, so that the client races them like those of a host name.
final class FixedResolver: Resolver, Sendable {
    private let addresses: [SocketAddress]
    private let eventLoop: any EventLoop

    init(_ addresses: [SocketAddress], eventLoop: any EventLoop) {
        self.addresses = addresses
        self.eventLoop = eventLoop
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == .inet })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        eventLoop.makeSucceededFuture(addresses.filter { $0.protocol == .inet6 })
    }

    func cancelQueries() {}
}
