import NIOCore
import NIOEmbedded

@testable import Elemental

/// Opens channels of the simulated network.
final class SimulatedDialer: Dialer, @unchecked Sendable {
    private unowned let world: World
    private let address: SocketAddress

    init(_ world: World, from address: SocketAddress) {
        self.world = world
        self.address = address
    }

    func connect(
        to endpoint: Connector.Endpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> { world.connect(from: address, timeout: TimeAmount(options.timeout)) }

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
