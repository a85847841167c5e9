import NIOCore

/// Sends back what arrives: bytes over TCP, whole envelopes, to their sender, over UDP.
final class Echo: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    typealias OutboundOut = NIOAny

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Unwraps the datagrams of a connected channel, which writes plain bytes.
final class Envelopes: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(unwrapInboundIn(data).data))
    }
}
