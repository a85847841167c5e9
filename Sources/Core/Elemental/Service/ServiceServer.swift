import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import Support

/// A service on its event loop. All its connections share the loop, so that handlers never run concurrently and a
/// datagram reaches its device without a hop.
final class ServiceServer: SessionOwner {
    let eventLoop: any EventLoop
    private let executor: LoopExecutor
    let logger: Logger
    let configuration: ServiceConfiguration
    let service: ElementalService.Shared
    let historyTurns: HistoryTurns?
    private(set) var udpIdentifiers = UDPIdentifiers()
    private(set) var sessions: [ObjectIdentifier: Session] = [:]
    private var hosts: [IPAddress: Int] = [:]
    private var deviceCapacity: Int
    /// Sessions of unpaired clients, oldest first; empty if the service is open. These clients are not authenticated,
    /// so they get only a part of the service's resources.
    private var plainClients: [Session] = []
    /// Sessions that are closing because a paired client took their place.
    private var evicted: Set<ObjectIdentifier> = []
    /// Refused sessions that stay open until the client has read the reason.
    private var refused: Set<ObjectIdentifier> = []
    /// The handler of the newest server channel.
    var acceptPause: NIOLoopBound<AcceptPauseHandler>?
    private(set) var incompleteByteCount = 0
    private var datagramSocket: DatagramSocket?
    private(set) var gate: ServiceGate?
    private let metrics: MetricsAccount?
    private var isStopping = false

    /// Beyond this number, refused sessions are closed as soon as the reason is sent.
    private static let maximumRefusedCount = 16

    init(
        service: ElementalService.Shared, eventLoop: any EventLoop, keys: ServiceKeys? = nil,
        metrics: MetricsAccount? = nil
    ) {
        self.service = service
        self.metrics = metrics
        self.eventLoop = eventLoop
        historyTurns = HistoryTurns(service.histories, on: eventLoop)
        executor = LoopExecutor(on: eventLoop)
        configuration = service.configuration
        deviceCapacity = service.configuration.maximumDeviceCount
        logger = service.configuration.logger
        guard let keys else { return }
        gate = ServiceGate(
            keys, service: service.name, timeout: configuration.limits.handshakeTimeout, on: eventLoop, logger: logger,
            owner: self)
    }

    func start(deviceCapacity: Int) {
        self.deviceCapacity = deviceCapacity
        gate?.trust.start { [weak self] in self?.trustChanged($0) }
    }

    func open(datagrams channel: any Channel) {
        datagramSocket = DatagramSocket(channel)
        for session in sessions.values where session.sender.datagramSink != nil {
            guard let hello = session.device.hello else { continue }
            useDatagrams(session, hello)
            session.updateDatagramState()
        }
    }

    private func useDatagrams(_ session: Session, _ hello: Hello) {
        guard hello.udpPort != 0, let datagramSocket, var address = session.bytes.remoteAddress else { return }
        address.port = Int(hello.udpPort)
        session.sender.datagramSink = DatagramSink(datagramSocket, to: address)
    }

    func closeDatagrams() -> EventLoopFuture<Void> {
        datagramSocket?.close() ?? eventLoop.makeSucceededVoidFuture()
    }

    private func resumeAccepting() {
        guard let pause = acceptPause else { return }
        if pause.eventLoop.inEventLoop { pause.value.goOn() } else { pause.eventLoop.execute { pause.value.goOn() } }
    }

    func receive(_ channel: any Channel) throws {
        guard let gate else { return _ = try accept(channel) }
        try gate.accept(channel)
    }

    @discardableResult
    func accept(
        _ channel: any Channel, role: Role = .plain, fingerprint: Fingerprint? = nil,
        datagramProtection: DatagramProtection? = nil
    ) throws -> Session {
        let address = channel.remoteAddress
        let table = service.table(for: role)
        let device = ElementalDevice(
            role: .client, name: address?.text ?? "unknown", address: address, service: service.name, elements: table,
            executor: executor, limits: configuration.limits, logger: logger, grantedRole: role, metrics: metrics)
        let session = Session(
            device: device, table: table, sharedHandlers: service.handlers, expectsHello: false, owner: self,
            datagramProtection: datagramProtection, latency: configuration.latency)
        device.state.withLock { $0.identity.fingerprint = fingerprint }
        try channel.pipeline.syncOperations.addHandler(session)
        return session
    }

    func makeDatagramHandler() -> DatagramHandler {
        DatagramHandler(ofService: { self.udpIdentifiers[$0] }, logger: logger)
    }

    func stop(_ text: String) -> EventLoopFuture<Void> {
        isStopping = true
        gate?.close()
        return disconnectAll(text)
    }

    @discardableResult
    func disconnectAll(_ text: String) -> EventLoopFuture<Void> {
        let all = sessions.values.map { session in
            let promise = eventLoop.makePromise(of: Void.self)
            session.device.addEnding { _ in promise.succeed() }
            shutDown(session, text)
            return promise.futureResult
        }
        return EventLoopFuture.andAllComplete(all, on: eventLoop)
    }

    func shutDown(_ session: Session, _ text: String) {
        session.close(DisconnectReason(.closedHere), shutdownText: text)
    }

    func sessionOpened(_ session: Session) {
        do {
            if let other = try findPlace(for: session) { evict(other) }
        } catch {
            let waits = error.waits && refused.count < Self.maximumRefusedCount
            if waits { refused.insert(ObjectIdentifier(session)) }
            return session.refuse(error.text, waits: waits)
        }
        sessions[ObjectIdentifier(session)] = session
        if let host = session.host { hosts[host, default: 0] += 1 }
        if isPlain(session) { plainClients.append(session) }
        let identifier = assignIdentifier(to: session)
        session.device.state.withLock { $0.identity.udpIdentifier = identifier }
        session.updateDatagramState()
        session.sender.queue(.udpIdentifier, [identifier])
    }

    var decidesByName: Bool { service.admission.withLock { $0 != nil } }

    func session(_ session: Session, refuses name: String) -> String? {
        guard case .refuse(let why) = admission(session, name: name) else { return nil }
        return why
    }

    func session(_ session: Session, received hello: Hello) {
        useDatagrams(session, hello)
        session.sender.queue(.hello, Hello(features: .ofService).wireBytes)
        if hello.features.contains(.wantsCatalogue) {
            session.sender.queue(.catalogue, session.receiver.table.catalogue.wireBytes)
        }
        // Otherwise the values follow when the device becomes ready, in a moment.
        if session.isReady { service.greet(session.device) }
    }

    func session(_ session: Session, incompleteByteCountChanged byteCount: Int) -> IncompleteExcess? {
        incompleteByteCount += byteCount
        let limit = configuration.maximumIncompleteByteCount
        guard byteCount > 0, incompleteByteCount > limit else { return nil }
        return .end(
            "incomplete values of all connections exceed the service's maximum of \(limit) bytes; "
                + "try again later")
    }

    func session(_ session: Session, discardedIncomplete element: ElementDefinition, byteCount: Int) {}

    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason) {
        // Other clients may set this element.
        let isRole = reason == .notAllowed && service.table.catalogue[id: id]?.access.contains(.write) == true
        let message = reason == .refused ? "the value cannot be decoded as the type that the service expects" : ""
        service.refuse(id, from: session.device, ValueRefusal(isRole ? .notAuthorised : reason, message))
    }

    func sessionIsReady(_ session: Session) {
        session.device.beginMetrics()
        service.add(session.device)
        if session.handshake.hasHello { service.greet(session.device) }
        service.events.emit(.deviceConnected(session.device))
    }

    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool { false }

    func sessionEnded(_ session: Session, _ reason: DisconnectReason) {
        defer {
            session.device.end(reason)
            resumeAccepting()
        }
        refused.remove(ObjectIdentifier(session))
        incompleteByteCount -= session.receiver.incompleteByteCount
        guard sessions.removeValue(forKey: ObjectIdentifier(session)) != nil else { return }
        if evicted.remove(ObjectIdentifier(session)) == nil { releasePlace(of: session) }
        let wasReady = service.devices.withLock { devices in
            devices.firstIndex(of: session.device).map { devices.remove(at: $0) } != nil
        }
        if wasReady { service.events.emit(.deviceDisconnected(session.device, reason)) }
    }

    private func admission(_ session: Session, name: String?) -> Admission {
        guard let decide = service.admission.withLock({ $0 }) else { return .accept }
        let address = session.bytes.remoteAddress
        return decide(
            ConnectionRequest(
                address: address?.text ?? "unknown", host: address?.hostText ?? "unknown", name: name,
                role: session.device.grantedRole ?? .plain, fingerprint: session.device.fingerprint,
                deviceCount: deviceCount))
    }
}

extension ServiceServer {
    private struct Refusal: Error {
        let text: String
        /// Whether the connection stays open until the client has read the text.
        var waits = true
    }

    /// How many of the 254 UDP identifiers unpaired clients can have.
    private static let maximumPlainIdentifierCount = 64

    /// How many of a service's places unpaired clients can have: half, and at least one.
    static func plainCapacity(of places: Int) -> Int { (places + 1) / 2 }

    private var deviceCount: Int { sessions.count - evicted.count }

    private func isPlain(_ session: Session) -> Bool {
        service.policy != .open && session.device.grantedRole == .plain
    }

    /// Returns the oldest unpaired client if a paired one needs its place.
    private func findPlace(for session: Session) throws(Refusal) -> Session? {
        if isStopping { throw Refusal(text: "the service is stopping") }
        let role = session.device.grantedRole ?? .plain
        guard service.policy.admits(role) else {
            throw Refusal(text: "this service requires pairing; pair this client: \(service.pairingCommand)")
        }
        let lacksDescriptors = session.bytes.descriptor.map(DescriptorLimit.isReserved) ?? false
        let isFull = deviceCount >= configuration.maximumDeviceCount
        let host = session.host
        let isHostFull = host.map { hosts[$0, default: 0] >= configuration.maximumDeviceCountPerAddress } ?? false
        let shortage: String? =
            if lacksDescriptors {
                "no descriptors left; try again later"
            } else if isFull {
                "reached its maximum of \(configuration.maximumDeviceCount) devices; try again later"
            } else if isHostFull {
                "\(configuration.maximumDeviceCountPerAddress) connections from this address; close one"
            } else {
                nil
            }
        var other: Session?
        if let shortage {
            if role > .plain { other = plainClients.first { !isHostFull || $0.host == host } }
            if other == nil { throw Refusal(text: "the service has \(shortage)", waits: !lacksDescriptors) }
        }
        let plainCapacity = Self.plainCapacity(of: deviceCapacity)
        if isPlain(session), plainClients.count >= plainCapacity {
            throw Refusal(
                text: "the service has its maximum of \(plainCapacity) unpaired clients; pair this one "
                    + "(\(service.pairingCommand)) or try again later")
        }
        if case .refuse(let text) = admission(session, name: nil) { throw Refusal(text: text) }
        return other
    }

    private func assignIdentifier(to session: Session) -> UInt8 {
        guard configuration.allowsUDP else { return 0 }
        let holdsOne: (Session) -> Bool = { $0.udpIdentifier != 0 }
        if isPlain(session), plainClients.count(where: holdsOne) >= Self.maximumPlainIdentifierCount { return 0 }
        session.udpIdentifier = udpIdentifiers.assign(to: session)
        if session.udpIdentifier == 0, !isPlain(session), let other = plainClients.first(where: holdsOne) {
            evict(other)
            session.udpIdentifier = udpIdentifiers.assign(to: session)
        }
        return session.udpIdentifier
    }

    private func evict(_ session: Session) {
        releasePlace(of: session)
        evicted.insert(ObjectIdentifier(session))
        shutDown(session, "a paired client needs this place; pair this one too: \(service.pairingCommand)")
    }

    private func releasePlace(of session: Session) {
        if let host = session.host {
            let count = hosts[host, default: 1] - 1
            hosts[host] = count == 0 ? nil : count
        }
        if session.udpIdentifier != 0 { udpIdentifiers.release(session.udpIdentifier) }
        plainClients.removeAll { $0 === session }
    }
}
