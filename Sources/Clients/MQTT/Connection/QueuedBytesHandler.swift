import NIOCore

/// Counts the bytes that are given to the channel, behind TLS if there is any. Placed next to the channel.
///
/// With what the channel has not given to the system yet, this says whether the network takes anything.
final class QueuedBytesHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var queued = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        queued += Self.unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    /// How many of the queued bytes the system has taken.
    func written(_ channel: any Channel) -> Int {
        queued - ((try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0)
    }
}
