internal import NIOCore
import NIOWebSocket

/// Gives a connection the frames that arrive. What the connection sends is encoded already.
final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let connection: WebSocketConnection

    init(_ connection: WebSocketConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { connection.receive(Self.unwrapInboundIn(data)) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        connection.writabilityChanged()
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { connection.receive(error) }

    func channelInactive(context: ChannelHandlerContext) {
        connection.end()
        context.fireChannelInactive()
    }
}
