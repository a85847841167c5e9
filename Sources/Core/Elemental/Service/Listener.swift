import Logging
import NIOCore
import NIOPosix
import Support

/// A service's open sockets: TCP and UDP with one port number.
struct Listener: Sendable {
    let port: Int
    /// The maximum number of concurrent devices.
    let deviceCapacity: Int
    private let tcp: any Channel
    private let udp: (any Channel)?
    private let server: NIOLoopBound<ServiceServer>

    /// How many ports chosen by the system for TCP are tried, in case UDP already uses them.
    private static let attempts = 16

    static func open(_ service: ElementalService.Shared) async throws(ElementalError) -> Listener {
        let configuration = service.configuration
        let eventLoop = configuration.eventLoopGroup.next()
        do {
            let server = try await eventLoop.submit {
                NIOLoopBound(ServiceServer(service: service, eventLoop: eventLoop), eventLoop: eventLoop)
            }.get()
            for attempt in 1...attempts {
                let tcp = try await bindTCP(configuration, eventLoop, server)
                let port = tcp.localAddress?.port ?? configuration.port
                guard configuration.allowsUDP else {
                    try await tcp.setOption(.autoRead, value: true).get()
                    return await Listener(port: port, tcp: tcp, udp: nil, server: server, configuration)
                }
                do {
                    let udp = try await bindUDP(tcp, eventLoop, server)
                    try await eventLoop.submit { server.value.open(datagrams: udp) }.get()
                    try await tcp.setOption(.autoRead, value: true).get()
                    return await Listener(port: port, tcp: tcp, udp: udp, server: server, configuration)
                } catch {
                    try? await tcp.close()
                    let isTaken = (error as? IOError)?.errnoCode == EADDRINUSE
                    guard configuration.port == 0, isTaken, attempt < attempts else { throw error }
                }
            }
            throw ElementalError(.addressInUse, "no port could be found that is free for both TCP and UDP")
        } catch let error as ElementalError {
            throw error
        } catch {
            throw explain(error, configuration)
        }
    }

    private init(
        port: Int, tcp: any Channel, udp: (any Channel)?, server: NIOLoopBound<ServiceServer>,
        _ configuration: ServiceConfiguration
    ) async {
        self.port = port
        self.tcp = tcp
        self.udp = udp
        self.server = server
        var room = Int.max
        for channel in [tcp, udp] {
            guard let channel, let descriptor = await Self.descriptor(of: channel) else { continue }
            room = min(room, DescriptorLimit.room(above: descriptor))
        }
        let deviceCapacity = min(configuration.maximumDeviceCount, room)
        self.deviceCapacity = deviceCapacity
        try? await tcp.eventLoop.submit { server.value.deviceCapacity = deviceCapacity }.get()
        guard deviceCapacity < configuration.maximumDeviceCount else { return }
        configuration.logger.warning(
            "fewer devices than allowed can connect; raise the limit of open files (ulimit -n)",
            metadata: ["devices": "\(deviceCapacity)", "allowed": "\(configuration.maximumDeviceCount)"])
    }

    private static func descriptor(of channel: any Channel) async -> CInt? {
        try? await channel.eventLoop.submit { StreamSocket(channel.pipeline)?.descriptor }.get()
    }

    private static func bindTCP(
        _ configuration: ServiceConfiguration, _ eventLoop: any EventLoop, _ server: NIOLoopBound<ServiceServer>
    ) async throws -> any Channel {
        var bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Nothing is accepted before UDP is open: a client that reconnects may arrive immediately.
            .serverChannelOption(.autoRead, value: false)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(server.value.makeAcceptPause())
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: Session.receiveAllocator)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try server.value.accept(channel) }
            }
        for (option, value) in TCPWatch.options(
            interval: configuration.limits.heartbeatInterval, silence: configuration.limits.maximumSilence)
        {
            bootstrap = bootstrap.childChannelOption(option, value: value)
        }
        if let address = configuration.address {
            return try await bootstrap.bind(to: ListeningAddress.find(address, port: configuration.port)).get()
        }
        do {
            // One socket for both families.
            return try await bootstrap.bind(host: "::", port: configuration.port).get()
        } catch let error as IOError where error.errnoCode == EAFNOSUPPORT || error.errnoCode == EADDRNOTAVAIL {
            // A machine without IPv6.
            return try await bootstrap.bind(host: "0.0.0.0", port: configuration.port).get()
        }
    }

    private static func bindUDP(
        _ tcp: any Channel, _ eventLoop: any EventLoop, _ server: NIOLoopBound<ServiceServer>
    ) async throws -> any Channel {
        guard let address = tcp.localAddress else { throw ChannelError.unknownLocalAddress }
        return try await DatagramBootstrap.elemental(on: eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ServiceDatagramHandler(server: server.value))
                }
            }
            .bind(to: address).get()
    }

    /// Emits an event on the service's event loop, as for all events, and returns when it has been emitted.
    func emit(_ event: ServiceEvent) async {
        await tcp.eventLoop.run { [server] in server.value.service.events.emit(event) }
    }

    /// Emits an event on the service's event loop, asynchronously.
    func emitLater(_ event: ServiceEvent) {
        tcp.eventLoop.execute { [server] in server.value.service.events.emit(event) }
    }

    /// Disconnects the devices with this reason, and continues to accept.
    func disconnectDevices(_ reason: String) {
        tcp.eventLoop.execute { [server] in server.value.disconnectAll(reason) }
    }

    /// Stops accepting, sends the devices the reason and waits until they have disconnected.
    func close(_ reason: String) async {
        try? await tcp.close()
        try? await tcp.eventLoop.flatSubmit { [server] in server.value.stop(reason) }.get()
        try? await udp?.close()
    }

    private static func explain(_ error: any Error, _ configuration: ServiceConfiguration) -> ElementalError {
        let place = "\(configuration.address ?? "any address"), port \(configuration.port)"
        if let error = error as? SocketAddressError.UnknownHost {
            return ElementalError(
                .listeningFailed,
                "cannot listen on \(place): the host is not known (\(error.errorDescription)); give an address of this "
                    + "machine")
        }
        guard let io = error as? IOError else {
            return ElementalError(.listeningFailed, "cannot listen on \(place)", cause: error)
        }
        switch io.errnoCode {
        case EADDRINUSE:
            return ElementalError(
                .addressInUse,
                "port \(configuration.port) is taken by another program (TCP or UDP); choose another, or 0 to let the "
                    + "system choose")
        case EACCES, EPERM:
            return ElementalError(
                .permissionDenied,
                "the system does not permit listening on \(place); ports below 1024 need special rights")
        case EMFILE, ENFILE:
            return ElementalError(
                .listeningFailed, "no file descriptors are left to listen on \(place); raise the limit (ulimit -n)")
        default:
            return ElementalError(.listeningFailed, "cannot listen on \(place): \(Session.describe(error))")
        }
    }
}
