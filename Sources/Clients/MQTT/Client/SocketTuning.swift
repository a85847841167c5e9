import NIOCore
import Support

enum SocketTuning {
    /// Bytes that the system may hold unsent. By default it takes some MiB from a program whose peer reads slowly: values
    /// that are old when they arrive, where those that wait here are still replaced by newer ones.
    private static let unsentInSystem = 128 << 10
    /// Bytes between which the channel stops and starts to be writable. A burst of a thousand values fits.
    private static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 256 << 10)

    static func apply(to channel: any Channel) throws {
        try channel.syncOptions?.setOption(.writeBufferWaterMark, value: waterMark)
        let option = ChannelOptions.Types.SocketOption(
            level: .tcp, name: NIOBSDSocket.Option(rawValue: CInt(TCP_NOTSENT_LOWAT)))
        // Without it more waits in the system, and nothing else changes.
        try? channel.syncOptions?.setOption(option, value: unsentInSystem)
    }
}

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
