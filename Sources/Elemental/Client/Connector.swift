import ElementalWire
import Logging
import NIOCore
import NIOPosix

/// Makes a client's connections.
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
    }

    let endpoint: Endpoint
    /// The service's instance name, or the host and port.
    let peerName: String
    let service: String?
    let ownName: String
    /// `nil` to take the elements that the service tells.
    let elements: ElementCatalogue?
    let options: ConnectOptions
    let configure: @Sendable (ElementalDevice) -> Void

    func connect() async throws(ElementalError) -> ElementalDevice {
        guard !ownName.isEmpty else {
            throw ElementalError(.invalidValue, "a client needs a name, by which the service shows it")
        }
        let eventLoop = options.eventLoopGroup.next()
        let ready = eventLoop.makePromise(of: ElementalDevice.self)
        let owner = eventLoop.submit { [self] in
            let owner = ClientOwner(
                name: ownName, wantsUDP: options.allowsUDP && elements?.usesUDP != false, ready: ready,
                configure: configure)
            open(on: eventLoop, owner: owner)
            return NIOLoopBound(owner, eventLoop: eventLoop)
        }
        do {
            return try await withTaskCancellationHandler {
                try await ready.futureResult.get()
            } onCancel: {
                owner.whenSuccess { $0.value.cancel() }
            }
        } catch let error as ElementalError {
            throw error
        } catch {
            throw ElementalError(.connectionFailed, "cannot connect to \(endpoint.text)", cause: error)
        }
    }

    private func open(on eventLoop: any EventLoop, owner: ClientOwner) {
        var bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(options.timeout))
            .channelOption(.autoRead, value: false)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: Session.receiveAllocator)
        for (option, value) in TCPWatch.options(options.limits) {
            bootstrap = bootstrap.channelOption(option, value: value)
        }
        let connecting: EventLoopFuture<any Channel>
        switch endpoint {
        case .host(let host, let port):
            if let address = try? SocketAddress(ipAddress: host, port: port) {
                connecting = bootstrap.connect(to: address)
            } else {
                connecting = bootstrap.connect(host: host, port: port)
            }
        case .addresses(let addresses):
            bootstrap = bootstrap.resolver(FixedResolver(addresses, eventLoop: eventLoop))
            connecting = bootstrap.connect(host: peerName, port: addresses.first?.port ?? 0)
        }
        // The session joins the channel that won the race of addresses, and only then is anything read.
        connecting.assumeIsolated().whenComplete { result in
            do {
                let channel = try result.get()
                let session = makeSession(channel, owner: owner)
                try channel.pipeline.syncOperations.addHandler(session)
                session.start()
                channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
            } catch {
                owner.fail(explain(error))
            }
        }
    }

    private func makeSession(_ channel: any Channel, owner: ClientOwner) -> Session {
        var limits = options.limits
        limits.handshakeTimeout = options.timeout
        let table = ElementTable(elements ?? [])
        let device = ElementalDevice(
            role: .service, name: peerName, address: channel.remoteAddress, service: service, elements: table,
            eventLoop: channel.eventLoop, limits: limits, logger: options.logger)
        return Session(
            device: device, table: table, sharedHandlers: nil, expectsHello: options.expectsHello, owner: owner,
            logger: options.logger)
    }

    private func explain(_ error: any Error) -> ElementalError {
        let target = "cannot connect to '\(peerName)'" + (peerName == endpoint.text ? "" : " at \(endpoint.text)")
        if case ChannelError.connectTimeout = error { return timedOut(target, error) }
        if let error = error as? NIOConnectionError {
            if let dns = error.dnsAError ?? error.dnsAAAAError, error.connectionErrors.isEmpty {
                return ElementalError(.connectionFailed, "\(target): the host is not known", cause: dns)
            }
            if let first = error.connectionErrors.first?.error {
                if case ChannelError.connectTimeout = first { return timedOut(target, first) }
                return ElementalError(.connectionFailed, "\(target): \(Session.describe(first))", cause: nil)
            }
        }
        return ElementalError(.connectionFailed, "\(target): \(Session.describe(error))")
    }

    private func timedOut(_ target: String, _ error: any Error) -> ElementalError {
        ElementalError(
            .timedOut,
            "\(target): no answer within \(options.timeout); the host is off or cut off, although its service may still be "
                + "listed for a while")
    }
}
