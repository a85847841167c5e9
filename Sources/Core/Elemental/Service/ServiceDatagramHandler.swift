import ElementalSecurity
import ElementalWire
import NIOCore

/// A service's UDP socket: passes each message to the device whose identifier it has.
final class ServiceDatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let server: ServiceServer
    // Unchecked: used only on the loop, and nothing called during an access comes back here.
    @exclusivity(unchecked) private var touched: [Session] = []
    @exclusivity(unchecked) private var reading = DatagramReading()
    /// For sealed datagrams from another address than their connection's.
    private let strangers = OpeningBudget()

    init(server: ServiceServer) { self.server = server }

    func channelActive(context: ChannelHandlerContext) {
        reading.begin(context.channel)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reading.noteDatagram()
        let envelope = unwrapInboundIn(data)
        let first = envelope.data.getInteger(at: envelope.data.readerIndex, as: UInt8.self)
        if first == SealedDatagram.mark { return receiveSealed(envelope) }
        let host = PeerHost(envelope.remoteAddress)
        var isStray = false
        var sender: (udpIdentifier: UInt8, session: Session)?
        let result = envelope.data.withUnsafeReadableBytes { bytes in
            DatagramDecoder.decode(bytes) { id, udpIdentifier, value in
                if sender?.udpIdentifier != udpIdentifier {
                    sender = self.sender(udpIdentifier, at: host).map { (udpIdentifier, $0) }
                }
                guard let sender else {
                    isStray = true
                    return
                }
                sender.session.receiveDatagram(id, value)
            }
        }
        if isStray || result == .malformed { server.noteStrayDatagram(from: envelope.remoteAddress) }
    }

    /// Only the host that got the identifier over TCP may use it. Ports are not compared: an older client sends
    /// datagrams from a port that it never announced.
    private func sender(_ udpIdentifier: UInt8, at host: PeerHost) -> Session? {
        guard let session = server.udpIdentifiers[udpIdentifier], session.host == host,
            session.datagramProtection == nil
        else { return nil }
        if session.beginReading() { touched.append(session) }
        return session
    }

    /// The identifier finds the connection whose keys must fit. The address proves nothing: it only decides which
    /// budget a forged datagram is charged to.
    private func receiveSealed(_ envelope: AddressedEnvelope<ByteBuffer>) {
        let isOurs = envelope.data.withUnsafeReadableBytes { bytes in
            guard let header = SealedDatagram.header(bytes),
                let session = server.udpIdentifiers[header.udpIdentifier], session.datagramProtection != nil
            else { return false }
            let isPeer = session.host == PeerHost(envelope.remoteAddress)
            guard let opened = session.open(sealed: bytes, within: isPeer ? nil : strangers) else { return false }
            if session.beginReading() { touched.append(session) }
            session.receive(opened: opened.content, isNewest: opened.isNewest)
            return true
        }
        if !isOurs { server.noteStrayDatagram(from: envelope.remoteAddress) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // This must come before the answers, which the peer may answer at once.
        reading.finish(context.channel)
        finishReading()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finishReading()
        context.fireChannelInactive()
    }

    private func finishReading() {
        // The arrays are swapped because copying would allocate another one each time.
        var sessions: [Session] = []
        swap(&sessions, &touched)
        for session in sessions { session.finishReading() }
        sessions.removeAll(keepingCapacity: true)
        if touched.isEmpty { swap(&sessions, &touched) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A failed read is not followed by `channelReadComplete`, and datagrams may have arrived before it failed.
        finishReading()
        server.logger.debug("UDP error", metadata: ["error": "\(error)"])
    }
}

/// The identifiers that map datagrams to a service's devices: 1...254; 0 if none is left.
struct UDPIdentifiers {
    private var sessions: [Session?] = Array(repeating: nil, count: 256)
    private var last: UInt8 = 0

    /// Cycles through all identifiers, so that a late datagram of a disconnected device does not reach the next one.
    mutating func assign(to session: Session) -> UInt8 {
        for _ in 1...254 {
            last = last >= 254 ? 1 : last + 1
            if sessions[Int(last)] == nil {
                sessions[Int(last)] = session
                return last
            }
        }
        return 0
    }

    mutating func release(_ identifier: UInt8) { sessions[Int(identifier)] = nil }

    subscript(identifier: UInt8) -> Session? { sessions[Int(identifier)] }
}
