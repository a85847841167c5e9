import ElementalSecurity
import ElementalWire
import NIOCore
import NIOPosix
import Support

/// One connection of a client, from the first attempt to its end.
final class ClientConnection: SessionOwner {
    private static let reopeningTime = TimeAmount.seconds(1)

    let id: ClientConnectionManager.Machine.ConnectionID
    private let manager: ClientConnectionManager
    private let device: ElementalDevice
    private let endpoint: ServiceEndpoint
    private let expectsHello: Bool
    private var session: Session?
    private var incompleteByteCount = 0
    /// The channel while TLS or admission is in progress.
    private var opening: (any Channel)?
    private var isAbandoned = false
    private var hasRetried = false

    init(
        _ id: ClientConnectionManager.Machine.ConnectionID, of device: ElementalDevice, to endpoint: ServiceEndpoint,
        expectsHello: Bool, _ manager: ClientConnectionManager
    ) {
        self.id = id
        self.device = device
        self.endpoint = endpoint
        self.expectsHello = expectsHello
        self.manager = manager
    }

    private var connector: Connector { manager.connector }

    var hasHello: Bool { session?.handshake.hasHello == true }

    func sessionOpened(_ session: Session) {
        self.session = session
        guard connector.options.allowsUDP, connector.elements?.usesUDP != false,
            let remote = session.bytes.remoteAddress
        else { return greet(session) }
        openDatagrams(session, to: remote) { [self] error in
            guard session.isOpen else { return }
            if let error {
                session.logger.warning("no UDP socket", metadata: ["device": "\(device.name)", "error": "\(error)"])
            }
            greet(session)
            session.flush()
        }
    }

    private func openDatagrams(
        _ session: Session, to remote: SocketAddress, from local: SocketAddress? = nil,
        _ completion: @escaping ((any Error)?) -> Void
    ) {
        let bound = NIOLoopBound(session, eventLoop: device.eventLoop)
        connector.options.network
            .openDatagrams(to: remote, from: local, on: device.eventLoop) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DatagramHandler(ofClient: bound.value))
                }
            }
            .assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .success(let channel):
                    take(channel, session, remote)
                    completion(nil)
                case .failure(let error): completion(error)
                }
            }
    }

    private func take(_ channel: any Channel, _ session: Session, _ remote: SocketAddress) {
        guard session.isOpen else { return channel.close(promise: nil) }
        session.sender.datagramSink = DatagramSink(DatagramSocket(channel), to: nil)
        session.updateDatagramState()
        guard let local = channel.localAddress else { return }
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in reopen(local, session, remote) }
    }

    /// Replaces the channel after a second, on the same local port, to which the service sends. NIO closes the channel
    /// on certain errors of the path, such as a firewall's refusal.
    private func reopen(_ local: SocketAddress, _ session: Session, _ remote: SocketAddress) {
        guard session.isOpen else { return }
        session.device.eventLoop.assumeIsolated().scheduleTask(in: Self.reopeningTime) { [self] in
            guard session.isOpen else { return }
            openDatagrams(session, to: remote, from: local) { [self] error in
                if error != nil { reopen(local, session, remote) }
            }
        }
    }

    private func greet(_ session: Session) {
        let udpPort = UInt16(session.sender.datagramSink?.socket.channel.localAddress?.port ?? 0)
        session.sender.queue(.deviceName, connector.ownName.utf8.prefix(SystemElement.maximumNameByteCount))
        if udpPort != 0, let protection = session.datagramProtection {
            session.sender.queue(.datagramSecret, protection.offer())
        }
        session.sender.queue(.hello, Hello(features: .ofClient, udpPort: udpPort).wireBytes)
    }

    var historyTurns: HistoryTurns? { nil }

    var decidesByName: Bool { false }

    func session(_ session: Session, refuses name: String) -> String? { nil }

    func session(_ session: Session, received hello: Hello) {}

    // The service is not notified: a client need not accept its values.
    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason) {}

    /// A connection's own limits bound its memory; a shared budget bounds that of several.
    func session(_ session: Session, incompleteByteCountChanged byteCount: Int) -> IncompleteExcess? {
        incompleteByteCount += byteCount
        guard let memory = connector.options.memory, !memory.note(byteCount, own: incompleteByteCount),
            byteCount > 0
        else { return nil }
        return .leaveOut
    }

    func session(_ session: Session, discardedIncomplete element: ElementDefinition, byteCount: Int) {
        connector.options.onLeftOut?(element, byteCount)
    }

    func sessionIsReady(_ session: Session) { manager.handle(.ready(id)) }

    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool {
        manager.connectionIsClosing(self, reason)
    }

    func sessionEnded(_ session: Session, _ reason: DisconnectReason) {
        self.session = nil
        _ = connector.options.memory?.note(-incompleteByteCount, own: 0)
        incompleteByteCount = 0
        session.sender.datagramSink?.socket.close()
        manager.connectionEnded(self, reason, peer: session.device.description)
    }

    func close(_ reason: DisconnectReason) { session?.close(reason) }

    func abandon() {
        isAbandoned = true
        opening?.close(promise: nil)
        session?.abandon()
    }
}

extension ClientConnection {
    func open() {
        let (security, found) = (connector.options.security, manager.found)
        guard security.mode != .open, security.source != nil || found?.security == .paired else { return connect(nil) }
        let (target, proven) = (connector.target(found), manager.provenIdentity)
        NIOThreadPool.singleton.runIfActive(eventLoop: device.eventLoop) { [name = connector.peerName] in
            try security.decide(target, announced: found?.security, proven: proven, name: name)
        }.assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success(let expected):
                manager.pins = expected?.match.pins ?? []
                connect(expected)
            case .failure(let error): fail(error)
            }
        }
    }

    private func fail(_ error: any Error) {
        manager.connectionFailed(self, error as? ElementalError ?? connector.explain(error, endpoint))
    }

    private func connect(_ expected: ExpectedService?) {
        // The connection may have been abandoned while the store was read.
        guard !isAbandoned else { return }
        connector.options.network
            .connect(to: endpoint, named: connector.peerName, connector.options, on: device.eventLoop)
            .assumeIsolated()
            .whenComplete { [self] result in
                do {
                    // The channel whose address won the race.
                    let channel = try result.get()
                    if isAbandoned { return channel.close(promise: nil) }
                    if let expected {
                        try secure(channel, expected)
                    } else {
                        try begin(on: channel, expectsHello: expectsHello)
                    }
                } catch {
                    fail(error)
                }
            }
    }

    private func secure(_ channel: any Channel, _ expected: ExpectedService) throws {
        opening = channel
        let request = connector.request(.connect(connector.options.security.role), to: expected, at: endpoint)
        try ClientGateHandler.begin(on: channel, connector, request) { [self] result in
            opening = nil
            do {
                guard case .authorised(let service) = try result.get() else { return }
                // For a client that connects by host and port, only the admission shows which service this is.
                guard expected.accepts(service.fingerprint, service: service.service) else {
                    throw ClientGateHandler.Failure.otherKey(service.fingerprint)
                }
                manager.provenIdentity = service.fingerprint
                expected.noteReached(service.fingerprint, at: channel.remoteAddress)
                device.state.withLock { state in
                    (state.identity.fingerprint, state.identity.grantedRole) = (service.fingerprint, service.role)
                }
                let protection = DatagramProtection(
                    isService: false, own: expected.identity.fingerprint, peer: service.fingerprint)
                try begin(on: channel, expectsHello: true, protection)
            } catch {
                channel.close(promise: nil)
                guard let failure = error as? ClientGateHandler.Failure else { return fail(error) }
                if !tryAgain(after: failure, expected) { fail(request.explain(failure)) }
            }
        }
    }

    private func tryAgain(after failure: ClientGateHandler.Failure, _ expected: ExpectedService) -> Bool {
        switch failure {
        case .timedOut: return false
        case .unanswered where !hasRetried: break
        case _ where expected.mayBePlain:
            connect(nil)
            return true
        default: break
        }
        guard !hasRetried, let pause = failure.pauseBeforeRetry else { return false }
        hasRetried = true
        device.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in connect(expected) }
        return true
    }

    private func begin(
        on channel: any Channel, expectsHello: Bool, _ protection: DatagramProtection? = nil
    ) throws {
        if isAbandoned { return channel.close(promise: nil) }
        device.state.withLock { $0.identity.address = channel.remoteAddress }
        let session = Session(
            device: device, table: ElementTable(connector.elements ?? []), sharedHandlers: nil,
            expectsHello: expectsHello, owner: self, datagramProtection: protection, latency: connector.options.latency)
        try channel.pipeline.syncOperations.addHandler(session)
        session.start()
        channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
    }
}
