import NIOCore
import Support

enum SocketTuning {
    /// The maximum number of unsent bytes in the system. By default it takes some MiB if the peer reads slowly, and
    /// these values are stale when they arrive. Values that wait in the outbox can still be replaced by newer ones.
    private static let unsentInSystem = 128 << 10
    /// The low and the high watermark of the channel, in bytes. A burst of a thousand values fits.
    private static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 << 10, high: 256 << 10)

    static func apply(to channel: any Channel) throws {
        try channel.syncOptions?.setOption(.writeBufferWaterMark, value: waterMark)
        let option = ChannelOptions.Types.SocketOption(
            level: .tcp, name: NIOBSDSocket.Option(rawValue: CInt(TCP_NOTSENT_LOWAT)))
        // Without this option more bytes wait in the system; nothing else changes.
        try? channel.syncOptions?.setOption(option, value: unsentInSystem)
    }
}

/// Counts the bytes that are written to the channel, encrypted if TLS is used. Placed next to the channel.
///
/// Together with the bytes that the channel still buffers, this shows whether the network takes anything.
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
