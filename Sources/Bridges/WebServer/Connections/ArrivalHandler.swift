internal import NIOCore

/// Tells the handler of requests when bytes arrive, in front of the parser, which does not bound the length of a
/// request's first line, and could be fed for ever by a client that was refused.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let requests: RequestHandler

    init(_ requests: RequestHandler) { self.requests = requests }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard requests.bytesArrive(Self.unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
        requests.bytesWereParsed()
    }
}
