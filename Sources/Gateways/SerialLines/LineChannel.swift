import NIOCore
import Support

/// The last handler of a channel's pipeline: forwards bytes and events.
final class LineChannel: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The channel may outlive it while closing.
    private weak var owner: (any LineChannelOwner)?
    private var context: ChannelHandlerContext?
    private var problem: String?

    /// The high watermark of unwritten bytes, above which nothing more is written.
    static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 64)

    init(owner: any LineChannelOwner) { self.owner = owner }

    var isWritable: Bool { context?.channel.isWritable ?? false }

    func write(_ bytes: [UInt8]) {
        guard let context else { return }
        context.writeAndFlush(NIOAny(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    func close() { context?.close(promise: nil) }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) { owner?.channelOpened(self) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        owner?.channel(self, received: unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) {
        owner?.channelClosed(self, problem ?? "the other end closed it")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        problem = (error as? IOError).map { String(systemError: $0.errnoCode) } ?? "\(error)"
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { owner?.channelIsWritable(self) }
    }
}

/// A line that uses a channel.
protocol LineChannelOwner: AnyObject {
    func channelOpened(_ channel: LineChannel)
    func channel(_ channel: LineChannel, received buffer: ByteBuffer)
    func channelClosed(_ channel: LineChannel, _ reason: String)
    func channelIsWritable(_ channel: LineChannel)
}
