import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import Support

/// A UDP socket, a service's or a client's: passes each message to the session that it belongs to.
final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    /// A client's session, whose socket is connected: the system accepts datagrams from the service's address only.
    private let only: Session?
    private let find: (UInt8) -> Session?
    private let logger: Logger
    private var touched: [Session] = []
    /// The budget for sealed datagrams from other addresses than their connection's.
    private let strangers = OpeningBudget()

    init(ofService find: @escaping (UInt8) -> Session?, logger: Logger) {
        (only, self.find, self.logger) = (nil, find, logger)
    }

    init(ofClient session: Session) {
        only = session
        find = { $0 != 0 && $0 == session.udpIdentifier ? session : nil }
        logger = session.logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        let address = envelope.remoteAddress
        let belongs = envelope.data.withUnsafeReadableBytes { bytes in
            let isSealed = only.map { $0.datagramProtection != nil } ?? (bytes.first == SealedDatagram.mark)
            return isSealed ? receiveSealed(bytes, from: address) : receivePlain(bytes, from: address)
        }
        if !belongs, only == nil { logger.debug("datagram of no device", metadata: ["address": "\(address.text)"]) }
    }

    private func receivePlain(_ datagram: UnsafeRawBufferPointer, from address: SocketAddress) -> Bool {
        var unknownCount = 0
        var sender: (udpIdentifier: UInt8, session: Session)?
        let result = DatagramDecoder.decode(datagram) { id, udpIdentifier, value in
            if sender?.udpIdentifier != udpIdentifier {
                sender = self.sender(udpIdentifier, at: address).map { (udpIdentifier, $0) }
            }
            guard let sender else { return unknownCount += 1 }
            sender.session.receiveDatagram(id, value)
        }
        if unknownCount == 0, result != .malformed { return true }
        only?.countUnproven { statistics in
            statistics.messagesUnknown += unknownCount
            if result == .malformed { statistics.messagesMalformed += 1 }
        }
        return false
    }

    /// Only the host that got the identifier over TCP may use it. An older client sends datagrams from a port that it
    /// never announced.
    private func sender(_ udpIdentifier: UInt8, at address: SocketAddress) -> Session? {
        guard let session = find(udpIdentifier), session.datagramProtection == nil,
            only != nil || session.host == IPAddress(address)
        else { return nil }
        begin(session)
        return session
    }

    /// The identifier finds the connection whose keys must fit. The address only decides which budget a forged datagram
    /// is charged to.
    private func receiveSealed(_ datagram: UnsafeRawBufferPointer, from address: SocketAddress) -> Bool {
        guard let session = only ?? SealedDatagram.header(datagram).flatMap({ find($0.udpIdentifier) }),
            session.datagramProtection != nil
        else { return false }
        let isPeer = only != nil || session.host == IPAddress(address)
        guard let opened = session.open(sealed: datagram, within: isPeer ? nil : strangers) else { return false }
        begin(session)
        session.receive(opened: opened.content, isNewest: opened.isNewest)
        return true
    }

    private func begin(_ session: Session) {
        if session.beginReading() { touched.append(session) }
    }

    func channelReadComplete(context: ChannelHandlerContext) { finishReading() }

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
        // Mostly "port unreachable" for a datagram sent earlier. Only the TCP connection decides whether the peer is
        // alive.
        only?.countUnproven { $0.datagramErrors += 1 }
        logger.debug("UDP error", metadata: ["device": "\(only?.device.name ?? "")", "error": "\(error)"])
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
