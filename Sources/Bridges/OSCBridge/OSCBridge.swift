public import Elemental
public import ElementalFollowing
public import Logging
package import NIOCore
internal import NIOPosix
internal import Support
internal import WebServer
internal import Zeroconf

import class Dispatch.DispatchQueue

/// Bridges services to OSC surfaces: faders set elements and receive their values.
///
/// ```swift
/// var options = OSCBridgeOptions()
/// options.setsElements = true
/// let bridge = try OSCBridge([.all], options: options)
/// bridge.onEvent { print($0) }
/// try await bridge.run()
/// ```
/// The element "Cutoff" of the instance "Synth" has the address `/Synth/Cutoff`. Programs that support OSCQuery find
/// the bridge and read the tree of elements from it. OSC has no security: the bridge accepts only this machine's
/// programs, unless ``OSCBridgeOptions/allowedNetworks`` says otherwise.
public final class OSCBridge: Sendable {
    /// The services to bridge.
    public typealias Subject = ServiceSubject

    private let options: OSCBridgeOptions
    private let logger: Logger
    private let follower: Follower
    private let events = EventHub<OSCBridgeEvent>()
    /// The bridge has its own group, so that programs that read the tree do not delay the faders.
    private let group: MultiThreadedEventLoopGroup
    private var loop: any EventLoop { group.next() }
    /// The core, while the bridge runs.
    private let bound = Locked<NIOLoopBound<BridgeCore>?>(nil)
    /// The UDP sockets and the TCP port, once they are open.
    let open = Locked<(sockets: DatagramSockets, queryPort: Int)?>(nil)

    /// Creates a bridge, which does nothing until ``run()``.
    ///
    /// - Parameters:
    ///   - subjects: the services to bridge.
    ///   - options: where the bridge listens, and what surfaces may do.
    ///   - name: this client's name in the services' lists.
    ///   - connect: how to connect to the services. The bridge sets the reconnection, the role and the event loop.
    /// - Throws: ``OSCBridgeError`` for an invalid port or network.
    public convenience init(
        _ subjects: [Subject] = [.all], options: OSCBridgeOptions = OSCBridgeOptions(), name: String = "OSC bridge",
        connect: ConnectOptions = ConnectOptions(),
        logger: Logger = Logger(label: "osc", factory: { _ in SwiftLogNoOpLogHandler() })
    ) throws(OSCBridgeError) {
        try options.check()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let following = FollowerOptions(name: name, connect, on: group.next(), setsElements: options.setsElements)
        self.init(options, group, Follower(subjects, following), logger)
    }

    /// Creates a bridge of a follower.
    ///
    /// - Parameter makeFollower: returns a follower that has not been started and has its connections on the given
    ///   event loop.
    package convenience init(
        options: OSCBridgeOptions, logger: Logger, makeFollower: (any EventLoop) async throws -> Follower
    ) async throws {
        try options.check()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let follower: Follower
        do { follower = try await makeFollower(group.next()) } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        self.init(options, group, follower, logger)
    }

    private init(
        _ options: OSCBridgeOptions, _ group: MultiThreadedEventLoopGroup, _ follower: Follower, _ logger: Logger
    ) {
        self.options = options
        self.group = group
        self.follower = follower
        self.logger = logger
    }

    deinit { group.shutdownGracefully { _ in } }

    /// Calls `handler` with every event of the bridge, on its event loop. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (OSCBridgeEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(events.addEventHandler(handler))
    }

    /// Follows the services and passes values on until the task is cancelled. Call it once.
    ///
    /// - Throws: ``OSCBridgeError`` if a port cannot be opened or a feedback address is unknown; ``ElementalError`` for
    ///   an invalid service name.
    public func run() async throws {
        let (loop, options, events) = (loop, options, events)
        let core = await loop.run {
            NIOLoopBound(BridgeCore(options, on: loop) { events.emit($0) }, eventLoop: loop)
        }
        bound.withLock { $0 = core }
        let web = webServer()
        let result: Result<Void, any Error>
        do {
            try await serve(core, web)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        // The sockets retain this bridge.
        await open.withLock { $0.take() }?.sockets.close()
        await loop.run { core.value.end() }
        await web.stop()
        bound.withLock { $0 = nil }
        try? await group.shutdownGracefully()
        try result.get()
    }

    private func webServer() -> WebServer {
        var webOptions = WebServerOptions()
        webOptions.port = options.port
        webOptions.networks = options.allowedNetworks.compactMap { IPNetwork($0) }
        webOptions.acceptsOwnAddresses = !options.allowedNetworks.isEmpty
        webOptions.acceptsNoHost = true
        webOptions.onListening = { [loop] event, _ in loop.execute { self.tell(event) } }
        var routes = WebRoutes()
        routes.socketPath = "/"
        routes.others = { await self.answer($0) }
        routes.onSocket = { self.add($0) }
        return WebServer(webOptions, routes: routes, logger: logger)
    }

    private func serve(_ core: NIOLoopBound<BridgeCore>, _ web: WebServer) async throws {
        let loop = loop
        let queryPort: Int
        do { queryPort = try await web.start().port } catch let error as WebServerError {
            throw OSCBridgeError(error.message)
        }
        let isOpen = !options.allowedNetworks.isEmpty
        let tell: @Sendable (KeptChannel.Event) -> Void = { event in loop.execute { self.tell(event) } }
        let sockets: DatagramSockets
        do throws(OSCBridgeError) {
            sockets = try await DatagramSockets.bind(port: queryPort, isOpen: isOpen, on: loop, core, tell: tell)
        } catch {
            // The system chose a free TCP port, whose number may be taken for UDP. Use another one for UDP then.
            guard options.port == 0 else { throw error }
            sockets = try await DatagramSockets.bind(port: 0, isOpen: isOpen, on: loop, core, tell: tell)
        }
        open.withLock { $0 = (sockets, queryPort) }
        for destination in options.feedback {
            guard let address = await Self.address(of: destination), let channel = sockets.channel(to: address) else {
                throw OSCBridgeError(
                    "'\(destination.host.excerpt)' is unknown or unreachable; give --feedback an IP address")
            }
            await loop.run { core.value.surfaces.addNamed(address, channel) }
        }
        events.emit(.listening(port: sockets.port, queryPort: queryPort))
        follower.onEvent(on: loop) { core.value.take($0) }
        let publishers = try publishers(port: sockets.port, queryPort)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for publisher in publishers {
                group.addTask { [events] in
                    publisher.start()
                    for await event in publisher.events() { Self.tell(event, to: events) }
                }
            }
            group.addTask { [follower] in try await follower.run() }
            defer { group.cancelAll() }
            // Publishers end only when they are stopped.
            for try await _ in group where Task.isCancelled { break }
        }
        for publisher in publishers { await publisher.stop() }
    }

    /// Adds a WebSocket that a program has opened. Runs on the web server's event loop.
    private func add(_ socket: WebSocketConnection) {
        guard let core = bound.withLock({ $0 }) else { return socket.close(code: 1001, reason: "the bridge ends") }
        let (loop, id, host) = (core.eventLoop, socket.id, socket.host)
        let bound = NIOLoopBound(socket, eventLoop: socket.eventLoop)
        loop.execute { core.value.listeners.add(QueryListener(id, host, bound, on: loop)) }
        socket.onText = { text in
            loop.execute { core.value.listeners.receive(text, from: id) { core.value.addresses[$0] != nil } }
        }
        // Binary messages would be OSC of extensions that HOST_INFO does not list.
        socket.ignoreBinary()
        socket.onWritable = { loop.execute { core.value.listeners.isWritable(id) } }
        socket.onClose = { loop.execute { core.value.listeners.remove(id) } }
    }

    private func tell(_ event: KeptChannel.Event) {
        switch event {
        case .lost(_, let delay):
            events.emit(.failedToListen(ElementalError(.listeningFailed, event.reason ?? ""), retryIn: delay))
        case .restored:
            guard let (sockets, queryPort) = open.withLock({ $0 }) else { return }
            events.emit(.listening(port: sockets.port, queryPort: queryPort))
        }
    }

    private func answer(_ request: WebRequest) async -> WebResponse {
        guard let bound = bound.withLock({ $0 }) else { return WebResponse(status: 503, "The bridge ends.") }
        let tree = QueryTree(
            setsElements: options.setsElements, port: open.withLock { $0?.sockets.port } ?? 0, name: options.name)
        return await tree.answer(request) { path in await bound.eventLoop.run { bound.value.node(at: path) } }
    }

    private static func address(of destination: OSCBridgeOptions.Destination) async -> SocketAddress? {
        await withCheckedContinuation { continuation in
            // Resolving a name may block on the network.
            DispatchQueue.global().async {
                continuation.resume(
                    returning: try? SocketAddress.makeAddressResolvingHost(destination.host, port: destination.port))
            }
        }
    }

    private func publishers(port: Int, _ queryPort: Int) throws(OSCBridgeError) -> [ServicePublisher] {
        guard options.isAnnounced else { return [] }
        do throws(ZeroconfError) {
            // Announces the bridge only where it can be reached.
            let reach: ServiceReach = options.allowedNetworks.isEmpty ? .machine : .network
            return try [(.udp("osc"), port), (.tcp("oscjson"), queryPort)].map {
                (type: ServiceType, port: Int) throws(ZeroconfError) in
                try ServicePublisher(
                    name: options.name, type: type, port: port, txt: ["txtvers": "1"], reach: reach, logger: logger)
            }
        } catch {
            throw OSCBridgeError(error.message)
        }
    }

    private static func tell(_ event: ServicePublisher.Event, to events: EventHub<OSCBridgeEvent>) {
        switch event {
        case .published(let name), .renamed(_, let name): events.emit(.announced(name: name))
        case .failed(let error, _): events.emit(.notAnnounced(ElementalError(.discoveryFailed, error.message)))
        }
    }
}
