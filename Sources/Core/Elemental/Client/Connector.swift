import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import NIOPosix
import Support

/// The settings that a client's connections share, and how each one is established.
struct Connector: Sendable {
    /// The endpoint of the first connection.
    let endpoint: ServiceEndpoint
    /// The service's instance name, or the host and port.
    let peerName: String
    /// The service's name, by which Zeroconf finds it again; `nil` if the client connects by host and port.
    let service: String?
    let ownName: String
    /// `nil` to use the elements that the service announces.
    let elements: ElementCatalogue?
    let options: ConnectOptions
    let configure: @Sendable (ElementalDevice) -> Void
    /// What Zeroconf said about the service's security, if the service was found there.
    var announcement = ServiceAnnouncement()

    var logger: Logger { options.logger.printable }

    func connect() async throws(ElementalError) -> ElementalDevice {
        guard !ownName.isEmpty else {
            throw ElementalError(.invalidValue, "a client needs a name, by which the service shows it")
        }
        try checkPort()
        let eventLoop = options.eventLoopGroup.next()
        let metrics = MetricsAccount.current(service: service ?? "", device: peerName, role: .client)
        let device: ElementalDevice
        do {
            device = try await eventLoop.submit { makeDevice(on: eventLoop, metrics) }.get()
        } catch {
            throw ElementalError(.connectionFailed, "cannot connect to \(endpoint.text)", cause: error)
        }
        try await device.connect(closesWhenCancelled: true)
        return device
    }

    /// Refuses an invalid port at once, because retrying would not help.
    func checkPort() throws(ElementalError) {
        guard case .host(_, let port) = endpoint else { return }
        do {
            try InvalidPort.check(port)
        } catch {
            throw ElementalError(.invalidValue, "cannot connect to \(endpoint.text): \(error)")
        }
    }

    private func makeDevice(on eventLoop: any EventLoop, _ metrics: MetricsAccount?) -> ElementalDevice {
        var limits = options.limits
        limits.handshakeTimeout = options.timeout
        let device = ElementalDevice(
            role: .service, name: peerName, address: nil, service: service, elements: ElementTable(elements ?? []),
            executor: LoopExecutor(on: eventLoop), limits: limits, logger: logger,
            manager: NIOLoopBound(ClientConnectionManager(self, on: eventLoop), eventLoop: eventLoop), metrics: metrics)
        device.state.withLock { state in
            state.inbound.keepsLongValues = options.keepsLongValues
            state.inbound.memory = options.memory
        }
        return device
    }

    /// Establishes a connection on the device's event loop and reports its state changes to its owner.
    func open(
        _ endpoint: ServiceEndpoint, for device: ElementalDevice, expectsHello: Bool, _ connection: ClientConnection
    ) {
        guard options.security.needsDecision(connection.manager.announcement.policy) else {
            return connect(endpoint, for: device, expectsHello: expectsHello, connection, .plain)
        }
        let (announcement, proven) = (connection.manager.announcement, connection.manager.provenIdentity)
        let target = target(endpoint, announcement)
        NIOThreadPool.singleton.runIfActive(eventLoop: device.eventLoop) { [options, peerName] in
            try options.security.decide(target, announced: announcement.policy, proven: proven, name: peerName)
        }.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let security):
                connection.manager.pins = security.pins
                connect(endpoint, for: device, expectsHello: expectsHello, connection, security)
            case .failure(let error):
                connection.fail(error as? ElementalError ?? explain(error, endpoint))
            }
        }
    }

    /// What to look up among the trusted services.
    func target(_ endpoint: ServiceEndpoint, _ announcement: ServiceAnnouncement) -> ConnectionTarget {
        var target = ConnectionTarget(
            service: service, instance: service == nil ? nil : peerName, hosts: [], port: 0,
            advertisedIdentity: announcement.shortFingerprint)
        switch endpoint {
        case .host(let host, let port):
            target.hosts = [host]
            target.port = UInt16(clamping: port)
        case .addresses(let addresses):
            target.hosts = addresses.map(\.hostText)
            target.port = UInt16(clamping: addresses.first?.port ?? 0)
        }
        return target
    }

    /// - Parameter isLast: whether a failed handshake is final, because it was retried already.
    private func connect(
        _ endpoint: ServiceEndpoint, for device: ElementalDevice, expectsHello: Bool, _ connection: ClientConnection,
        _ security: ConnectionSecurity, isLast: Bool = false
    ) {
        // The connection may have been abandoned while the store was read.
        guard !connection.isAbandoned else { return }
        let connecting = options.network.connect(to: endpoint, named: peerName, options, on: device.eventLoop)
        connecting.assumeIsolated().whenComplete { result in
            do {
                // The channel whose address won the race.
                let channel = try result.get()
                switch security {
                case .plain: try begin(on: channel, for: device, expectsHello: expectsHello, connection)
                case .encrypted(let expected):
                    try secure(channel, endpoint, for: device, expected, connection) { failure in
                        guard !isLast, let pause = Self.pause(after: failure) else { return false }
                        device.eventLoop.assumeIsolated().scheduleTask(in: pause) {
                            connect(
                                endpoint, for: device, expectsHello: expectsHello, connection, security, isLast: true)
                        }
                        return true
                    }
                case .encryptedOrPlain(let expected):
                    try secure(channel, endpoint, for: device, expected, connection) { failure in
                        if case .timedOut = failure { return false }
                        if case .unanswered = failure, !isLast {
                            device.eventLoop.assumeIsolated().scheduleTask(in: ClientGateHandler.pause) {
                                connect(
                                    endpoint, for: device, expectsHello: expectsHello, connection, security,
                                    isLast: true)
                            }
                            return true
                        }
                        connect(endpoint, for: device, expectsHello: expectsHello, connection, .plain)
                        return true
                    }
                }
            } catch {
                connection.fail(explain(error, endpoint))
            }
        }
    }

    /// When to retry after a failed handshake; `nil` for not at all. A service takes a client whose first bytes are
    /// lost for a plain one, and one that limits handshakes may close the connection.
    private static func pause(after failure: ClientGateHandler.Failure) -> TimeAmount? {
        switch failure {
        case .notEncrypted: .zero
        case .unanswered: ClientGateHandler.pause
        case .otherKey, .timedOut, .closed, .refused, .notStored: nil
        }
    }

    /// Encrypts a connected channel, and adds a session once the service has admitted this client.
    ///
    /// - Parameter tryAgain: connects once more, if that may help after the failure.
    private func secure(
        _ channel: any Channel, _ endpoint: ServiceEndpoint, for device: ElementalDevice, _ expected: ExpectedService,
        _ connection: ClientConnection, tryAgain: @escaping (ClientGateHandler.Failure) -> Bool
    ) throws {
        if connection.isAbandoned { return channel.close(promise: nil) }
        connection.opening = channel
        let own = expected.identity.fingerprint
        let plan = ClientGateHandler.Plan(
            accepts: { expected.accepts($0) },
            makeAdmission: { key in
                ClientAdmission(
                    .connect(options.security.role), service: service, name: ownName, own: own, peer: key)
            },
            store: { _, _ in device.eventLoop.makeSucceededVoidFuture() }, timeout: TimeAmount(options.timeout))
        try ClientGateHandler.begin(on: channel, as: expected.identity, plan) { result in
            connection.opening = nil
            do {
                guard case .authorised(let service) = try result.get() else { return }
                // A client that connects by host and port learns only now which service this is.
                guard expected.accepts(service.fingerprint, service: service.service) else {
                    throw ClientGateHandler.Failure.otherKey(service.fingerprint)
                }
                connection.manager.provenIdentity = service.fingerprint
                expected.noteReached(service.fingerprint, at: channel.remoteAddress)
                device.state.withLock { $0.identity.fingerprint = service.fingerprint }
                device.note(grantedRole: service.role)
                let protection = DatagramProtection(isService: false, own: own, peer: service.fingerprint)
                try begin(on: channel, for: device, expectsHello: true, connection, .pipeline, protection)
            } catch {
                channel.close(promise: nil)
                if let failure = error as? ClientGateHandler.Failure {
                    if tryAgain(failure) { return }
                    connection.fail(explain(failure, endpoint, expected))
                } else {
                    connection.fail(explain(error, endpoint))
                }
            }
        }
    }

    /// Adds a session to a connected channel, and starts reading.
    ///
    /// - Parameter kind: what lies between the session's bytes and the network.
    private func begin(
        on channel: any Channel, for device: ElementalDevice, expectsHello: Bool, _ connection: ClientConnection,
        _ kind: ByteChannel.Kind = .plain, _ datagramProtection: DatagramProtection? = nil
    ) throws {
        if connection.isAbandoned { return channel.close(promise: nil) }
        device.state.withLock { $0.identity.address = channel.remoteAddress }
        let session = Session(
            device: device, table: ElementTable(elements ?? []), sharedHandlers: nil, expectsHello: expectsHello,
            owner: connection, logger: logger, bytes: ByteChannel(kind),
            datagramProtection: datagramProtection, latency: options.latency)
        try channel.pipeline.syncOperations.addHandler(session)
        session.start()
        channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
    }
}

extension Connector {
    init(
        _ service: DiscoveredService, as name: String = "", elements: ElementCatalogue? = nil,
        _ options: ConnectOptions,
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) {
        var options = options
        options.expectsHello = service.saysHello
        self.init(
            endpoint: service.endpoint, peerName: service.name, service: service.service, ownName: name,
            elements: elements, options: options, configure: configure, announcement: ServiceAnnouncement(service))
    }

    init(
        host: String, port: Int, as name: String = "", elements: ElementCatalogue? = nil, _ options: ConnectOptions,
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) {
        self.init(
            endpoint: .host(host, port: port), peerName: ServiceEndpoint.host(host, port: port).text,
            service: nil, ownName: name, elements: elements, options: options, configure: configure)
    }
}

/// What Zeroconf says about a service's security. Anyone on the network can publish it.
struct ServiceAnnouncement: Sendable {
    /// What the service requires of its clients; `nil` if nothing is known.
    private(set) var policy: SecurityPolicy?
    var shortFingerprint: String?

    init(policy: SecurityPolicy? = nil, shortFingerprint: String? = nil) {
        self.policy = policy
        self.shortFingerprint = shortFingerprint
    }

    init(_ service: DiscoveredService) {
        policy = service.security
        shortFingerprint = service.shortFingerprint
    }
}
