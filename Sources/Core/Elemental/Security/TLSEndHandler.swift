import NIOCore
import NIOSSL

/// Above TLS: a peer that closes its connection without TLS's farewell, because its process died, has closed it. That is
/// no error of the network.
///
/// An attacker who can forge the end of a TCP connection can end it either way. What was received before is
/// authenticated, and every frame announces its length.
final class TLSEndHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The channel becomes inactive next.
        if case NIOSSLError.uncleanShutdown? = error as? NIOSSLError { return }
        context.fireErrorCaught(error)
    }
}
