import Logging
import NIOCore
import NIOEmbedded

@testable import Elemental

/// The simulated network as a client sees it.
final class SimulatedNetwork: ClientNetwork, @unchecked Sendable {
    private unowned let world: World
    private let address: SocketAddress
    /// Whether the program has just searched for the service, and so knows where it is.
    var knowsPort = false

    init(_ world: World, from address: SocketAddress) {
        self.world = world
        self.address = address
    }

    func connect(
        to endpoint: ServiceEndpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        world.connect(from: address, to: knowsPort ? world.port : endpoint.port, timeout: TimeAmount(options.timeout))
    }

    private static let start = ContinuousClock.now

    var now: ContinuousClock.Instant { Self.start + .nanoseconds(Int64(world.loop.now.uptimeNanoseconds)) }

    func watch(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) -> AnyObject { world.listing.watch(handler) }

    func openDatagrams(
        to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let channel = world.datagrams.open(at: local ?? address, to: remote)
        return initialize(channel).map {
            channel.connect(to: remote, promise: nil)
            return channel
        }
    }
}

extension ServiceEndpoint {
    var port: Int {
        switch self {
        case .host(_, let port): port
        case .addresses(let addresses): addresses.first?.port ?? 0
        }
    }
}
