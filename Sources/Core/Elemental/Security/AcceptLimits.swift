import NIOCore
import Support

/// The bounds on a service's connections without a session, shared by the loop that accepts and the service's own.
final class AcceptLimits: Sendable {
    private let connections = Locked(UnauthorisedConnections())
    private let now: @Sendable () -> NIODeadline

    /// - Parameter now: the clock of the limits per second.
    init(now: @escaping @Sendable () -> NIODeadline) { self.now = now }

    func add(_ channel: any Channel) -> Bool {
        let host = channel.remoteAddress.map(PeerHost.init) ?? .unknown
        return connections.withLock { $0.add(ObjectIdentifier(channel), from: host, at: now()) }
    }

    func remove(_ id: ObjectIdentifier) { connections.withLock { $0.remove(id) } }

    func waste(_ id: ObjectIdentifier) { connections.withLock { $0.waste(id, at: now()) } }

    func beginHandshake(_ id: ObjectIdentifier) -> Bool {
        connections.withLock { $0.beginHandshake(id, at: now()) }
    }

    func reserve(_ id: ObjectIdentifier) { connections.withLock { $0.reserve(id, at: now()) } }
}

/// Closes the connections that are too many before anything is set up for them. A handler of the server's channel.
final class AcceptLimitHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let limits: AcceptLimits

    init(_ limits: AcceptLimits) { self.limits = limits }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        guard limits.add(channel) else { return channel.close(promise: nil) }
        let id = ObjectIdentifier(channel)
        // Unless it is removed before, because it has a session.
        channel.closeFuture.whenComplete { [limits] _ in limits.waste(id) }
        context.fireChannelRead(data)
    }
}
