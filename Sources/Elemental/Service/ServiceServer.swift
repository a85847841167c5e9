import ElementalWire
import Logging
import NIOCore

/// A service on its event loop: its sockets' devices, their identifiers and what newcomers are told.
///
/// All connections of a service share one loop, so that a service's handlers never run at the same time and a
/// datagram reaches its device without a hop.
final class ServiceServer: SessionOwner {
    let eventLoop: any EventLoop
    let logger: Logger
    let configuration: ServiceConfiguration
    private let service: ElementalService.Shared
    private(set) var udpIdentifiers = UDPIdentifiers()
    private var sessions: [ObjectIdentifier: Session] = [:]
    /// How many of them each address has.
    private var hosts: [PeerHost: Int] = [:]
    private var datagramChannel: (any Channel)?
    private var isStopping = false

    init(service: ElementalService.Shared, eventLoop: any EventLoop) {
        self.service = service
        self.eventLoop = eventLoop
        configuration = service.configuration
        logger = service.configuration.logger
    }

    /// From now on devices may use datagrams.
    func open(datagrams channel: (any Channel)?) { datagramChannel = channel }

    /// Puts a session on a connection that was accepted.
    func accept(_ channel: any Channel) throws {
        let address = channel.remoteAddress
        let table = service.table
        let device = ElementalDevice(
            role: .client, name: address?.text ?? "unknown", address: address, service: service.name, elements: table,
            eventLoop: eventLoop, limits: configuration.limits, logger: logger)
        let session = Session(
            device: device, table: table, sharedHandlers: service.handlers, expectsHello: false, owner: self,
            logger: logger)
        try channel.pipeline.syncOperations.addHandler(session)
    }

    func noteStrayDatagram(from address: SocketAddress) {
        logger.debug("datagram of no device", metadata: ["address": "\(address.text)"])
    }

    func flushDatagrams() {
        for session in sessions.values { session.flush() }
    }

    /// Ends every connection, telling why.
    ///
    /// - Returns: a future that succeeds when all are gone.
    func stop(_ text: String) -> EventLoopFuture<Void> {
        isStopping = true
        return disconnectAll(text)
    }

    /// Disconnects every device, telling why.
    ///
    /// - Returns: a future that succeeds when all are gone.
    @discardableResult
    func disconnectAll(_ text: String) -> EventLoopFuture<Void> {
        let all = sessions.values.map { session in
            let promise = eventLoop.makePromise(of: Void.self)
            session.device.endings.add { _ in promise.succeed() }
            session.close(DisconnectReason(.closedHere, isExpected: true), shutdownText: text)
            return promise.futureResult
        }
        return EventLoopFuture.andAllComplete(all, on: eventLoop)
    }

    // MARK: SessionOwner

    func sessionOpened(_ session: Session) {
        guard !isStopping else { return session.refuse("the service is stopping") }
        if sessions.count >= configuration.maximumDeviceCount {
            return session.refuse("the service has its \(configuration.maximumDeviceCount) devices; try again later")
        }
        if let host = session.host, hosts[host, default: 0] >= configuration.maximumDeviceCountPerAddress {
            return session.refuse(
                "the service has \(configuration.maximumDeviceCountPerAddress) connections from this address already")
        }
        if case .refuse(let why) = admission(session, name: nil) { return session.refuse(why) }
        sessions[ObjectIdentifier(session)] = session
        if let host = session.host { hosts[host, default: 0] += 1 }
        if configuration.allowsUDP { session.udpIdentifier = udpIdentifiers.assign(to: session) }
        let identifier = session.udpIdentifier
        session.device.identity.withLock { $0.udpIdentifier = identifier }
        session.updateDatagramState()
        session.sendSystem(.udpIdentifier, [identifier])
    }

    func session(_ session: Session, refuses name: String) -> String? {
        guard case .refuse(let why) = admission(session, name: name) else { return nil }
        return why
    }

    func session(_ session: Session, received hello: Hello) {
        if hello.udpPort != 0, let datagramChannel, let address = session.context?.remoteAddress {
            session.datagramSink = DatagramSink(
                channel: datagramChannel, remote: address.withPort(Int(hello.udpPort)))
        }
        session.sendSystem(.hello, Hello(features: [.emptyValues, .catalogue, .ping, .pieces]).wireBytes)
        if hello.features.contains(.wantsCatalogue) {
            session.sendSystem(.catalogue, session.table.catalogue.wireBytes)
        }
        // Otherwise the values follow when the device is ready, that is at once.
        if session.isReady { service.greet(session.device) }
    }

    func sessionIsReady(_ session: Session) {
        service.devices.withLock { $0.insert(session.device) }
        if session.handshake.hasHello { service.greet(session.device) }
        service.events.emit(.deviceConnected(session.device))
    }

    func deviceOutlives(_ session: Session, _ reason: DisconnectReason) -> Bool { false }

    func sessionEnded(_ session: Session, _ reason: DisconnectReason) {
        defer { session.device.end(reason) }
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
        let address = session.context?.remoteAddress
        return decide(
            ConnectionRequest(
                address: address?.text ?? "unknown", host: address?.hostText ?? "unknown", name: name,
                deviceCount: sessions.count))
    }
}
