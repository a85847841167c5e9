import ElementalSecurity
import ElementalWire
import NIOCore

/// One connection of a client: says hello to the service, opens the UDP socket and reports state changes to the
/// manager.
final class ClientConnection: SessionOwner {
    private static let reopeningTime = TimeAmount.seconds(1)

    let id: ClientConnectionManager.Machine.ConnectionID
    let manager: ClientConnectionManager
    private let name: String
    private let wantsUDP: Bool
    private var session: Session?
    /// The size of the incomplete values.
    private var gatheredByteCount = 0
    /// The channel while TLS or admission is in progress, before there is a session.
    var opening: (any Channel)?
    private(set) var isAbandoned = false

    init(_ id: ClientConnectionManager.Machine.ConnectionID, _ manager: ClientConnectionManager) {
        self.id = id
        self.manager = manager
        name = manager.connector.ownName
        wantsUDP = manager.connector.options.allowsUDP && manager.connector.elements?.usesUDP != false
    }

    var hasHello: Bool { session?.handshake.hasHello == true }

    func sessionOpened(_ session: Session) {
        self.session = session
        manager.handle(.opened(id))
        guard wantsUDP, session.allowsDatagrams, let remote = session.bytes.remoteAddress else {
            return greet(session, udpPort: 0)
        }
        manager.connector.options.network
            .openDatagrams(to: remote, from: nil, on: session.device.eventLoop, initializer(for: session))
            .assumeIsolated()
            .whenComplete { [self] result in
                if case .success(let channel) = result { take(channel, session, remote) }
                guard session.isOpen else { return }
                if case .failure(let error) = result {
                    session.logger.warning(
                        "no UDP socket", metadata: ["device": "\(session.device.name)", "error": "\(error)"])
                }
                greet(session, udpPort: UInt16(session.sender.datagramSink?.socket.channel.localAddress?.port ?? 0))
                session.flush()
            }
    }

    private func initializer(for session: Session) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        let session = NIOLoopBound(session, eventLoop: session.device.eventLoop)
        return { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(ClientDatagramHandler(session: session.value))
            }
        }
    }

    /// Sends datagrams through that channel until the connection ends.
    private func take(_ channel: any Channel, _ session: Session, _ remote: SocketAddress) {
        guard session.isOpen else { return channel.close(promise: nil) }
        session.sender.datagramSink = DatagramSink(DatagramSocket(channel), to: nil)
        session.updateDatagramState()
        guard let local = channel.localAddress else { return }
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in reopen(local, session, remote) }
    }

    /// NIO closes the channel on certain errors on the path to the service, such as a firewall's refusal. It is
    /// replaced after a while, on the local port that the service knows.
    private func reopen(_ local: SocketAddress, _ session: Session, _ remote: SocketAddress) {
        guard session.isOpen else { return }
        session.device.eventLoop.assumeIsolated().scheduleTask(in: Self.reopeningTime) { [self] in
            guard session.isOpen else { return }
            manager.connector.options.network
                .openDatagrams(to: remote, from: local, on: session.device.eventLoop, initializer(for: session))
                .assumeIsolated()
                .whenComplete { [self] result in
                    switch result {
                    case .success(let channel): take(channel, session, remote)
                    case .failure: reopen(local, session, remote)
                    }
                }
        }
    }

    /// Sends name and hello in one write, so that the service knows both before it reports the device.
    private func greet(_ session: Session, udpPort: UInt16) {
        session.sender.queue(.deviceName, name.utf8.prefix(SystemElement.maximumNameByteCount))
        if udpPort != 0, let protection = session.datagramProtection {
            session.sender.queue(.datagramSecret, protection.offer())
        }
        let hello = Hello(features: .ofClient, udpPort: udpPort)
        session.sender.queue(.hello, hello.wireBytes)
    }

    var decidesByName: Bool { false }

    func session(_ session: Session, refuses name: String) -> String? { nil }

    func session(_ session: Session, received hello: Hello) {}

    // The service is not notified: a client need not accept its values.
    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason) {}

    /// A connection's own limits bound its memory; a shared budget bounds that of several.
    func session(_ session: Session, gathers byteCount: Int) -> GatheringExcess? {
        gatheredByteCount += byteCount
        guard let memory = manager.connector.options.memory, !memory.note(byteCount, own: gatheredByteCount),
            byteCount > 0
        else { return nil }
        return .leaveOut
    }

    func session(_ session: Session, leavesOut element: ElementDefinition, byteCount: Int) {
        manager.connector.options.onLeftOut?(element, byteCount)
    }

    func sessionIsReady(_ session: Session) { manager.handle(.ready(id)) }

    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool {
        manager.connectionIsClosing(self, reason)
    }

    func sessionEnded(_ session: Session, _ reason: DisconnectReason) {
        self.session = nil
        _ = manager.connector.options.memory?.note(-gatheredByteCount, own: 0)
        gatheredByteCount = 0
        session.sender.datagramSink?.socket.close()
        manager.connectionEnded(self, reason, peer: session.device.description)
    }

    func fail(_ error: ElementalError) { manager.connectionFailed(self, error) }

    func close(_ reason: DisconnectReason) { session?.close(reason, shutdownText: nil) }

    /// Drops the connection at once, or as soon as it is established.
    func abandon() {
        isAbandoned = true
        opening?.close(promise: nil)
        session?.abandon()
    }
}

/// A client's UDP socket, connected to its service: the system accepts datagrams from that address only.
final class ClientDatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let session: Session
    /// Exclusive access is not checked: it is used only on the loop, and nothing called during an access comes back
    /// here.
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

    /// On an encrypted connection only sealed datagrams count.
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
        // A failed read is not followed by `channelReadComplete`, and datagrams may have arrived before it failed.
        if session.isInBatch { session.finishReading() }
        // Mostly "port unreachable" for a datagram sent earlier. Only the TCP connection decides whether the peer is
        // alive.
        session.countUnproven { $0.datagramErrors += 1 }
        session.logger.debug("UDP error", metadata: ["device": "\(session.device.name)", "error": "\(error)"])
    }
}
