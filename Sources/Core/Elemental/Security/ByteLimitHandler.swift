import NIOCore

/// Closes a connection whose peer has sent more bytes than it may before it is authorised. Below TLS, so that it counts
/// what the handshake takes, too.
final class ByteLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var remaining: Int

    init(_ maximumByteCount: Int) { remaining = maximumByteCount }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard remaining >= 0 else { return }
        remaining -= unwrapInboundIn(data).readableBytes
        guard remaining >= 0 else { return context.channel.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
