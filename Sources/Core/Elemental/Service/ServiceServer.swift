import ElementalWire
import Logging
import NIOCore

/// A service on its event loop: its sessions, their UDP identifiers and the handshake with new clients.
///
/// All connections of a service share one loop, so that a service's handlers never run at the same time and a
/// datagram reaches its device without a hop.
final class ServiceServer: SessionOwner {
    let eventLoop: any EventLoop
    private let executor: LoopExecutor
    let logger: Logger
    let configuration: ServiceConfiguration
    let service: ElementalService.Shared
    private(set) var udpIdentifiers = UDPIdentifiers()
    private var sessions: [ObjectIdentifier: Session] = [:]
    /// The number of sessions of each address.
    private var hosts: [PeerHost: Int] = [:]
    /// Refused sessions that stay open until the client has read the reason.
    private var refused: Set<ObjectIdentifier> = []
    /// Pauses accepting when descriptors or memory run out.
    private weak var acceptPause: AcceptPauseHandler?
    /// Bytes held by the incomplete values of all connections.
    private(set) var gatheredByteCount = 0
    private var datagramChannel: (any Channel)?
    private var isStopping = false

    /// The maximum number of refused connections that stay open until the client has read the reason, for at most
    /// ``DeviceLimits/closeTimeout``. Further ones are closed immediately after the reason is sent.
    private static let maximumRefusedCount = 16

    init(service: ElementalService.Shared, eventLoop: any EventLoop) {
        self.service = service
        self.eventLoop = eventLoop
        executor = LoopExecutor(on: eventLoop)
        configuration = service.configuration
        logger = service.configuration.logger
    }

    /// Devices may use datagrams from now on.
    func open(datagrams channel: (any Channel)?) { datagramChannel = channel }

    /// A handler for the server channel.
    func makeAcceptPause() -> AcceptPauseHandler {
        let handler = AcceptPauseHandler(logger: logger)
        acceptPause = handler
        return handler
    }

    /// Adds a session to an accepted connection.
    ///
    /// - Parameter kind: what lies between its bytes and the network.
    func accept(_ channel: any Channel, _ kind: ByteChannel.Kind = .plain) throws {
        let address = channel.remoteAddress
        let table = service.table
        let device = ElementalDevice(
            role: .client, name: address?.text ?? "unknown", address: address, service: service.name, elements: table,
            executor: executor, limits: configuration.limits, logger: logger)
        let session = Session(
            device: device, table: table, sharedHandlers: service.handlers, expectsHello: false, owner: self,
            logger: logger, bytes: ByteChannel(kind))
        try channel.pipeline.syncOperations.addHandler(session)
    }

    func noteStrayDatagram(from address: SocketAddress) {
        logger.debug("datagram of no device", metadata: ["address": "\(address.text)"])
    }

    /// Ends every connection with this reason.
    ///
    /// - Returns: a future that succeeds when all have ended.
    func stop(_ text: String) -> EventLoopFuture<Void> {
        isStopping = true
        return disconnectAll(text)
    }

    /// Disconnects every device with this reason.
    ///
    /// - Returns: a future that succeeds when all have ended.
    @discardableResult
    func disconnectAll(_ text: String) -> EventLoopFuture<Void> {
        let all = sessions.values.map { session in
            let promise = eventLoop.makePromise(of: Void.self)
            session.device.addEnding { _ in promise.succeed() }
            session.close(DisconnectReason(.closedHere, isExpected: true), shutdownText: text)
            return promise.futureResult
        }
        return EventLoopFuture.andAllComplete(all, on: eventLoop)
    }

    // MARK: SessionOwner

    func sessionOpened(_ session: Session) {
        if let descriptor = session.bytes.descriptor, DescriptorLimit.isReserved(descriptor) {
            return session.refuse("the service has no descriptors left; try again later", waits: false)
        }
        if let why = refusal(of: session) {
            let waits = refused.count < Self.maximumRefusedCount
            if waits { refused.insert(ObjectIdentifier(session)) }
            return session.refuse(why, waits: waits)
        }
        sessions[ObjectIdentifier(session)] = session
        if let host = session.host { hosts[host, default: 0] += 1 }
        if configuration.allowsUDP { session.udpIdentifier = udpIdentifiers.assign(to: session) }
        let identifier = session.udpIdentifier
        session.device.state.withLock { $0.identity.udpIdentifier = identifier }
        session.updateDatagramState()
        session.sender.queue(.udpIdentifier, [identifier])
    }

    private func refusal(of session: Session) -> String? {
        if isStopping { return "the service is stopping" }
        if sessions.count >= configuration.maximumDeviceCount {
            return "the service has its \(configuration.maximumDeviceCount) devices; try again later"
        }
        if let host = session.host, hosts[host, default: 0] >= configuration.maximumDeviceCountPerAddress {
            return
                "the service has \(configuration.maximumDeviceCountPerAddress) connections from this address already"
        }
        guard case .refuse(let why) = admission(session, name: nil) else { return nil }
        return why
    }

    func session(_ session: Session, refuses name: String) -> String? {
        guard case .refuse(let why) = admission(session, name: name) else { return nil }
        return why
    }

    func session(_ session: Session, received hello: Hello) {
        if hello.udpPort != 0, let datagramChannel, let address = session.bytes.remoteAddress {
            session.sender.datagramSink = DatagramSink(datagramChannel, to: address.withPort(Int(hello.udpPort)))
        }
        session.sender.queue(.hello, Hello(features: .ofService).wireBytes)
        if hello.features.contains(.wantsCatalogue) {
            session.sender.queue(.catalogue, session.receiver.table.catalogue.wireBytes)
        }
        // Otherwise the values follow when the device becomes ready, which is immediately.
        if session.isReady { service.greet(session.device) }
    }

    func session(_ session: Session, gathers byteCount: Int) -> String? {
        gatheredByteCount += byteCount
        let limit = configuration.maximumIncompleteByteCount
        guard byteCount > 0, gatheredByteCount > limit else { return nil }
        return "values that are still arriving take more than the \(limit) bytes that the service has for those of all "
            + "its connections; try again later"
    }

    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason) {
        service.refuse(id, from: session.device, ValueRefusal(reason))
    }

    func sessionIsReady(_ session: Session) {
        service.devices.withLock { $0.insert(session.device) }
        if session.handshake.hasHello { service.greet(session.device) }
        service.events.emit(.deviceConnected(session.device))
    }

    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool { false }

    func sessionEnded(_ session: Session, _ reason: DisconnectReason) {
        defer {
            session.device.end(reason)
            acceptPause?.goOn()
        }
        refused.remove(ObjectIdentifier(session))
        gatheredByteCount -= session.receiver.gatheredByteCount
        guard sessions.removeValue(forKey: ObjectIdentifier(session)) != nil else { return }
        if let host = session.host {
            let count = hosts[host, default: 1] - 1
            hosts[host] = count == 0 ? nil : count
        }
        if session.udpIdentifier != 0 { udpIdentifiers.release(session.udpIdentifier) }
        let wasReady = service.devices.withLock { $0.remove(session.device) }
        if wasReady { service.events.emit(.deviceDisconnected(session.device, reason)) }
    }

    private func admission(_ session: Session, name: String?) -> Admission {
        guard let decide = service.admission.withLock({ $0 }) else { return .accept }
        let address = session.bytes.remoteAddress
        return decide(
            ConnectionRequest(
                address: address?.text ?? "unknown", host: address?.hostText ?? "unknown", name: name,
                deviceCount: sessions.count))
    }
}
