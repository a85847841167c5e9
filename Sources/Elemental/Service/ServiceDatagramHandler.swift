import ElementalWire
import NIOCore

/// A service's UDP socket: hands each message to the device whose identifier it bears.
final class ServiceDatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let server: ServiceServer
    private var touched: [Session] = []

    init(server: ServiceServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        var isStray = false
        let result = envelope.data.withUnsafeReadableBytes { bytes in
            DatagramDecoder.decode(bytes) { id, udpIdentifier, value in
                // Only the host that holds the identifier over TCP may use it. Ports cannot be compared: an older
                // client's datagrams come from a port that it never told.
                guard let session = server.udpIdentifiers[udpIdentifier],
                    session.context?.remoteAddress?.isSameHost(as: envelope.remoteAddress) == true
                else {
                    isStray = true
                    return
                }
                if session.beginReading() { touched.append(session) }
                session.receiveDatagram(id, value)
            }
        }
        if isStray || result == .malformed { server.noteStrayDatagram(from: envelope.remoteAddress) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let sessions = touched
        touched.removeAll(keepingCapacity: true)
        for session in sessions { session.finishReading() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { server.flushDatagrams() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        server.logger.debug("UDP error", metadata: ["error": "\(error)"])
    }
}
