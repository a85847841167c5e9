import Logging
import NIOCore
import NIOPosix
import Support

/// A service's TCP and UDP sockets, with one port number. A socket that the system closes is reopened.
struct Listener: Sendable {
    let port: Int
    let deviceCapacity: Int
    private let tcp: KeptChannel
    let udp: KeptChannel?
    private let server: NIOLoopBound<ServiceServer>
    let eventLoop: any EventLoop

    /// How many TCP ports chosen by the system are tried to find one that is free for UDP too.
    private static let attempts = 16

    static func open(_ service: ElementalService.Shared) async throws(ElementalError) -> Listener {
        let configuration = service.configuration
        let eventLoop = configuration.eventLoopGroup.next()
        let metrics = MetricsAccount.current(service: service.name, device: service.displayName, role: "service")
        do {
            let keys = try await configuration.security.load(now: configuration.acceptClock)
            let server = try await eventLoop.submit {
                NIOLoopBound(
                    ServiceServer(service: service, eventLoop: eventLoop, keys: keys, metrics: metrics),
                    eventLoop: eventLoop)
            }.get()
            for attempt in 1...attempts {
                let tcp = try await bindTCP(configuration, keys?.limits, eventLoop, server)
                do {
                    let udp = try await configuration.allowsUDP ? bindUDP(tcp.localAddress, eventLoop, server) : nil
                    try await tcp.setOption(.autoRead, value: true).get()
                    return await Listener(tcp, udp, server, eventLoop, service, keys?.limits)
                } catch {
                    try? await tcp.close()
                    let isTaken = (error as? IOError)?.errnoCode == EADDRINUSE
                    guard configuration.port == 0, isTaken, attempt < attempts else { throw error }
                }
            }
            throw ElementalError(.addressInUse, "found no port free for both TCP and UDP; choose a port")
        } catch let error as ElementalError {
            throw error
        } catch {
            throw explain(error, configuration)
        }
    }

    private init(
        _ tcp: any Channel, _ udp: (any Channel)?, _ server: NIOLoopBound<ServiceServer>, _ eventLoop: any EventLoop,
        _ service: ElementalService.Shared, _ limits: AcceptLimits?
    ) async {
        let (address, configuration, events) = (tcp.localAddress, service.configuration, service.events)
        let port = address?.port ?? configuration.port
        self.port = port
        self.eventLoop = eventLoop
        self.server = server
        var fixed = configuration
        fixed.port = port
        func keep(
            _ channel: any Channel, _ transport: String, _ open: @escaping @Sendable () async throws -> any Channel
        ) -> KeptChannel {
            KeptChannel(channel, open: open) { [fixed] change in
                let event: ServiceEvent =
                    switch change {
                    case .restored: .listening(port: port)
                    case .lost(let error, let delay):
                        .failedToListen(
                            error.map { Self.explain($0, fixed) }
                                ?? ElementalError(
                                    .listeningFailed, "the system has closed the \(transport) socket at port \(port)"),
                            retryIn: delay)
                    }
                eventLoop.execute { events.emit(event) }
            }
        }
        self.tcp = keep(tcp, "TCP") { [fixed] in
            let channel = try await Self.bindTCP(fixed, limits, eventLoop, server)
            try await channel.setOption(.autoRead, value: true).get()
            return channel
        }
        self.udp = udp.map {
            keep($0, "UDP") { try await Self.bindUDP(address, eventLoop, server) }
        }
        var room = Int.max
        for channel in [tcp, udp].compactMap({ $0 }) {
            let descriptor = try? await channel.eventLoop.submit { channel.pipeline.descriptor }.get()
            if let descriptor { room = min(room, DescriptorLimit.room(above: descriptor)) }
        }
        let deviceCapacity = min(configuration.maximumDeviceCount, room)
        self.deviceCapacity = deviceCapacity
        try? await eventLoop.submit { server.value.start(deviceCapacity: deviceCapacity) }.get()
        guard deviceCapacity < configuration.maximumDeviceCount else { return }
        configuration.logger.warning(
            "fewer devices than allowed can connect; raise the limit of open files (ulimit -n)",
            metadata: ["devices": "\(deviceCapacity)", "allowed": "\(configuration.maximumDeviceCount)"])
    }

    private static func bindTCP(
        _ configuration: ServiceConfiguration, _ limits: AcceptLimits?, _ eventLoop: any EventLoop,
        _ server: NIOLoopBound<ServiceServer>
    ) async throws -> any Channel {
        // A service with limits accepts on another loop, so that a flood of connections costs its own loop as little as
        // possible. Handshakes stay on its own loop: a channel cannot change loops.
        let acceptLoop = limits == nil ? eventLoop : configuration.eventLoopGroup.next()
        var bootstrap = ServerBootstrap(group: acceptLoop, childGroup: eventLoop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Nothing is accepted before UDP is open: a client that reconnects may arrive immediately.
            .serverChannelOption(.autoRead, value: false)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pause = AcceptPauseHandler(logger: configuration.logger)
                    try channel.pipeline.syncOperations.addHandler(pause)
                    let bound = NIOLoopBound(pause, eventLoop: acceptLoop)
                    eventLoop.execute { server.value.acceptPause = bound }
                    if let limits { try channel.pipeline.syncOperations.addHandler(AcceptLimitHandler(limits)) }
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: ByteChannel.receiveAllocator)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try server.value.receive(channel) }
            }
        for (option, value) in TCPWatch.options(configuration.limits) {
            bootstrap = bootstrap.childChannelOption(option, value: value)
        }
        if let address = configuration.address {
            return try await bootstrap.bind(to: ListeningAddress.find(address, port: configuration.port)).get()
        }
        return try await ListeningAddress.bindToAll(port: configuration.port) { [bootstrap] in
            try await bootstrap.bind(to: $0).get()
        }
    }

    private static func bindUDP(
        _ address: SocketAddress?, _ eventLoop: any EventLoop, _ server: NIOLoopBound<ServiceServer>
    ) async throws -> any Channel {
        guard let address else { throw ChannelError.unknownLocalAddress }
        let channel = try await DatagramBootstrap.elemental(on: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(server.value.makeDatagramHandler())
                }
            }
            .bind(to: address).get()
        try await eventLoop.submit { server.value.open(datagrams: channel) }.get()
        return channel
    }

    func emit(_ event: ServiceEvent) async {
        await eventLoop.run { [server] in server.value.service.events.emit(event) }
    }

    func execute(_ body: @escaping @Sendable (ServiceServer) -> Void) {
        eventLoop.execute { [server] in body(server.value) }
    }

    func close(_ reason: String) async {
        await tcp.close()
        try? await eventLoop.flatSubmit { [server] in server.value.stop(reason) }.get()
        udp?.release()
        try? await eventLoop.flatSubmit { [server] in server.value.closeDatagrams() }.get()
    }

    private static func explain(_ error: any Error, _ configuration: ServiceConfiguration) -> ElementalError {
        let port = "port \(configuration.port)"
        let failure = ListeningFailure(
            error, place: "\(configuration.address ?? "any address"), \(port)", port: port,
            remedy: "choose another (for TCP and UDP), or 0 to let the system choose")
        let code: ElementalError.Code =
            switch failure.kind {
            case .invalidPort: .invalidValue
            case .taken: .addressInUse
            case .notPermitted: .permissionDenied
            case .unknownAddress, .other: .listeningFailed
            }
        return ElementalError(code, failure.message)
    }
}
