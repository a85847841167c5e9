import NIOCore
import NIOPosix

/// Returns addresses that are already known, so that the client races them as it would those of a host name.
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
