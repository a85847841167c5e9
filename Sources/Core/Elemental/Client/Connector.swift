import ElementalWire
import Logging
import NIOCore
import NIOPosix
import Support

/// What a client's connections have in common, and how each is established.
struct Connector: Sendable {
    /// Where to connect to.
    enum Endpoint: Sendable {
        case host(String, port: Int)
        case addresses([SocketAddress])

        var text: String {
            switch self {
            case .host(let host, let port): "\(host):\(port)"
            case .addresses(let addresses): addresses.map(\.text).joined(separator: ", ")
            }
        }

        /// Whether `other` has no address or port that this one lacks.
        func covers(_ other: Endpoint) -> Bool {
            switch (self, other) {
            case (.addresses(let own), .addresses(let others)): others.allSatisfy(own.contains)
            case (.addresses(let addresses), .host(_, let port)), (.host(_, let port), .addresses(let addresses)):
                addresses.allSatisfy { $0.port == port }
            case (.host(let own, let ownPort), .host(let other, let port)): own == other && ownPort == port
            }
        }
    }

    /// Where the first connection is made to.
    let endpoint: Endpoint
    /// The service's instance name, or the host and port.
    let peerName: String
    /// The service's name, by which Zeroconf finds it again; `nil` if the client connects by host and port.
    let service: String?
    let ownName: String
    /// `nil` to use the elements that the service announces.
    let elements: ElementCatalogue?
    let options: ConnectOptions
    let configure: @Sendable (ElementalDevice) -> Void

    var logger: Logger { options.logger.printable }

    /// Connects for the first time.
    func connect() async throws(ElementalError) -> ElementalDevice {
        guard !ownName.isEmpty else {
            throw ElementalError(.invalidValue, "a client needs a name, by which the service shows it")
        }
        let eventLoop = options.eventLoopGroup.next()
        let device: ElementalDevice
        do {
            device = try await eventLoop.submit { makeDevice(on: eventLoop) }.get()
        } catch {
            throw ElementalError(.connectionFailed, "cannot connect to \(endpoint.text)", cause: error)
        }
        try await device.connect(closesWhenCancelled: true)
        return device
    }

    private func makeDevice(on eventLoop: any EventLoop) -> ElementalDevice {
        var limits = options.limits
        limits.handshakeTimeout = options.timeout
        return ElementalDevice(
            role: .service, name: peerName, address: nil, service: service, elements: ElementTable(elements ?? []),
            executor: LoopExecutor(on: eventLoop), limits: limits, logger: logger,
            manager: NIOLoopBound(ClientConnectionManager(self, on: eventLoop), eventLoop: eventLoop))
    }

    /// Establishes a connection, on the device's event loop, and reports its state changes to its owner.
    func open(
        _ endpoint: Endpoint, for device: ElementalDevice, expectsHello: Bool, _ connection: ClientConnection
    ) {
        let eventLoop = device.eventLoop
        let connecting = options.network.connect(to: endpoint, named: peerName, options, on: eventLoop)
        connecting.assumeIsolated().whenComplete { result in
            do {
                // Of several addresses' channels, the one that won the race.
                let channel = try result.get()
                try begin(on: channel, for: device, expectsHello: expectsHello, connection)
            } catch {
                connection.fail(explain(error, endpoint))
            }
        }
    }

    /// Adds a session to a connected channel. Only then is anything read.
    private func begin(
        on channel: any Channel, for device: ElementalDevice, expectsHello: Bool, _ connection: ClientConnection
    ) throws {
        if connection.isAbandoned { return channel.close(promise: nil) }
        device.state.withLock { $0.identity.address = channel.remoteAddress }
        let session = Session(
            device: device, table: ElementTable(elements ?? []), sharedHandlers: nil, expectsHello: expectsHello,
            owner: connection, logger: logger, bytes: ByteChannel(options.network.byteKind))
        try channel.pipeline.syncOperations.addHandler(session)
        session.start()
        channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
    }

    private func explain(_ error: any Error, _ endpoint: Endpoint) -> ElementalError {
        let target = "cannot connect to '\(peerName)'" + (peerName == endpoint.text ? "" : " at \(endpoint.text)")
        let failure = NetworkFailure(error)
        guard case .timedOut = failure.kind else {
            return ElementalError(.connectionFailed, "\(target): \(failure.reason)")
        }
        return ElementalError(
            .timedOut,
            "\(target): no answer within \(options.timeout); the host is off or cut off, although its service may still be "
                + "listed for a while")
    }
}
