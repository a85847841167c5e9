import NIOCore
import Support

/// The last handler of a channel's pipeline: forwards bytes and events.
final class LineChannel: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The channel may outlive its owner while closing.
    private weak var owner: (any LineChannelOwner)?
    private var context: ChannelHandlerContext?
    private var problem: String?
    /// The peer's address; `nil` if it has none.
    private(set) var host: String?

    /// The watermarks of unwritten bytes. Above the high one, nothing more is written.
    static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 64)

    init(owner: any LineChannelOwner) { self.owner = owner }

    var isWritable: Bool { context?.channel.isWritable ?? false }

    func write(_ bytes: [UInt8]) {
        guard let context else { return }
        context.writeAndFlush(NIOAny(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    func close() { context?.close(promise: nil) }

    func startReading() { context?.channel.setOption(.autoRead, value: true).whenFailure { _ in } }

    /// Has the system probe the peer, and close the channel if it does not answer within four seconds.
    func setProbing(_ isOn: Bool) {
        guard let channel = context?.channel else { return }
        #if canImport(Darwin)
        let times: [(CInt, CInt)] = [(TCP_KEEPALIVE, 1), (TCP_KEEPINTVL, 1), (TCP_KEEPCNT, 3)]
        #else
        // The last option applies to a connection with unacknowledged bytes.
        let times = [(TCP_KEEPIDLE, 1), (TCP_KEEPINTVL, 1), (TCP_KEEPCNT, 3), (TCP_USER_TIMEOUT, isOn ? 4000 : 0)]
        #endif
        for (option, value) in times {
            channel.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: option)), value: SocketOptionValue(value))
                .whenFailure { _ in }
        }
        channel.setOption(.socketOption(.so_keepalive), value: isOn ? 1 : 0).whenFailure { _ in }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        host = context.channel.remoteAddress?.ipAddress
        owner?.channelOpened(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        owner?.channel(self, received: unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
        owner?.channelClosed(self, problem ?? "the peer closed it")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        problem = (error as? IOError).map { String(systemError: $0.errnoCode) } ?? "\(error)"
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { owner?.channelIsWritable(self) }
    }
}

protocol LineChannelOwner: AnyObject {
    func channelOpened(_ channel: LineChannel)
    func channel(_ channel: LineChannel, received buffer: ByteBuffer)
    func channelClosed(_ channel: LineChannel, _ reason: String)
    func channelIsWritable(_ channel: LineChannel)
}
