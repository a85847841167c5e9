import ElementalWire
import NIOCore

/// A client's UDP socket, connected to its service: the system accepts datagrams from that address only.
final class ClientDatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let session: Session
    /// Not checked for exclusive access: only accessed on the loop, and nothing that is called during an access comes
    /// back here.
    @exclusivity(unchecked) private var reading = DatagramReading()

    init(session: Session) { self.session = session }

    func channelActive(context: ChannelHandlerContext) {
        reading.begin(context.channel)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reading.noteDatagram()
        unwrapInboundIn(data).data.withUnsafeReadableBytes { bytes in
            if session.datagramProtection == nil { receivePlain(bytes) } else { receiveSealed(bytes) }
        }
    }

    private func receivePlain(_ datagram: UnsafeRawBufferPointer) {
        let result = DatagramDecoder.decode(datagram) { id, udpIdentifier, value in
            guard udpIdentifier == session.udpIdentifier, udpIdentifier != 0 else {
                return session.countUnproven { $0.messagesUnknown += 1 }
            }
            session.beginReading()
            session.receiveDatagram(id, value)
        }
        if result == .malformed { session.countUnproven { $0.messagesMalformed += 1 } }
    }

    /// On an encrypted connection nothing else counts.
    private func receiveSealed(_ datagram: UnsafeRawBufferPointer) {
        guard let opened = session.open(sealed: datagram) else { return }
        session.beginReading()
        session.receive(opened: opened.content, isNewest: opened.isNewest)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        reading.finish(context.channel)
        if session.isInBatch { session.finishReading() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A failed read is not completed, and datagrams may have been received before it failed.
        if session.isInBatch { session.finishReading() }
        // Mostly "port unreachable" for a datagram sent earlier. Only the TCP connection determines whether the peer is
        // alive.
        session.countUnproven { $0.datagramErrors += 1 }
        session.logger.debug("UDP error", metadata: ["device": "\(session.device.name)", "error": "\(error)"])
    }
}
