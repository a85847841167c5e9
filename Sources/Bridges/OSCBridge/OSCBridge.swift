public import Elemental
public import ElementalFollowing
public import Logging
package import NIOCore
internal import Support
internal import WebServer
internal import Zeroconf

import class Dispatch.DispatchQueue

/// Shows services to surfaces that speak OSC: faders set elements, and are told what the elements are.
///
/// ```swift
/// var options = OSCBridgeOptions()
/// options.setsElements = true
/// let bridge = try OSCBridge([.all], options: options)
/// bridge.onEvent { print($0) }
/// try await bridge.run()
/// ```
/// The element "Cutoff" of the instance "Synth" is at `/Synth/Cutoff`. Programs that speak OSCQuery find the bridge and
/// read from it what elements there are. OSC knows no security: only this machine's programs are heard, unless
/// ``OSCBridgeOptions/allowedNetworks`` says otherwise.
public final class OSCBridge: Sendable {
    /// Which services are bridged.
    public typealias Subject = ServiceSubject

    private let options: OSCBridgeOptions
    private let logger: Logger
    private let follower: Follower
    private let events = EventHub<OSCBridgeEvent>()
    /// That of the connections to the services. The web server has it too.
    private let loop: any EventLoop
    private let core: NIOLoopBoundBox<BridgeCore>
    /// The UDP sockets and the TCP port, once they are open.
    let open = Locked<(sockets: DatagramSockets, queryPort: Int)?>(nil)

    /// Creates a bridge, which does nothing until ``run()``.
    ///
    /// - Parameters:
    ///   - subjects: what is bridged.
    ///   - options: where surfaces are heard, and what they may do.
    ///   - name: this client's name, under which the services list it.
    ///   - connect: how to connect to the services. The bridge sets the reconnection, the role and the event loop.
    /// - Throws: ``OSCBridgeError`` for options that cannot be.
    public convenience init(
        _ subjects: [Subject] = [.all], options: OSCBridgeOptions = OSCBridgeOptions(), name: String = "OSC bridge",
        connect: ConnectOptions = ConnectOptions(),
        logger: Logger = Logger(label: "osc", factory: { _ in SwiftLogNoOpLogHandler() })
    ) throws(OSCBridgeError) {
        let following = FollowerOptions(
            name: name, connect, on: connect.eventLoopGroup.next(), setsElements: options.setsElements)
        try self.init(Follower(subjects, following), options, logger: logger)
    }

    /// Creates a bridge to services that are followed.
    ///
    /// - Parameter follower: has not been started; its connections have one event loop.
    package init(_ follower: Follower, _ options: OSCBridgeOptions, logger: Logger) throws(OSCBridgeError) {
        try options.check()
        self.options = options
        self.follower = follower
        self.logger = logger
        loop = follower.options.connect.eventLoopGroup.next()
        core = .makeBoxSendingValue(
            BridgeCore(options, on: loop) { [events] in events.emit($0) }, eventLoop: loop)
    }

    /// Calls `handler` with every event of the bridge, on its event loop. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (OSCBridgeEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(events.addEventHandler(handler))
    }

    /// Follows the services and passes values until the task is cancelled. Call it once.
    ///
    /// - Throws: ``OSCBridgeError`` if a port cannot be had or a feedback address is not known; ``ElementalError`` if a
    ///   service's name is not one.
    public func run() async throws {
        let web = webServer()
        let result: Result<Void, any Error>
        do {
            try await serve(web)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        // They have this bridge.
        await open.withLock { $0.take() }?.sockets.close()
        await loop.run { [core] in core.value.end() }
        await web.stop()
        try result.get()
    }

    private func webServer() -> WebServer {
        var webOptions = WebServerOptions()
        webOptions.port = options.port
        webOptions.networks = options.allowedNetworks.compactMap { IPNetwork($0) }
        webOptions.acceptsOwnAddresses = !options.allowedNetworks.isEmpty
        webOptions.acceptsNoHost = true
        webOptions.onListening = { event, _ in self.tell(event) }
        var routes = WebRoutes()
        routes.socketPath = "/"
        routes.others = { await self.answer($0) }
        routes.onSocket = { [core] in core.value.listeners.add($0) }
        return WebServer(webOptions, routes: routes, on: loop, logger: logger)
    }

    private func serve(_ web: WebServer) async throws {
        let (loop, core) = (loop, core)
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
            // The system chose a port of TCP; that of UDP may be another then.
            guard options.port == 0 else { throw error }
            sockets = try await DatagramSockets.bind(port: 0, isOpen: isOpen, on: loop, core, tell: tell)
        }
        open.withLock { $0 = (sockets, queryPort) }
        for destination in options.feedback {
            guard let address = await Self.address(of: destination), let channel = sockets.channel(to: address) else {
                throw OSCBridgeError(
                    "'\(destination.host.excerpt)' is not known, or cannot be reached; give --feedback an address")
            }
            await loop.run { core.value.surfaces.addNamed(address, channel) }
        }
        events.emit(.listening(port: sockets.port, queryPort: queryPort))
        follower.onEvent { event in
            if loop.inEventLoop { core.value.take(event) } else { loop.execute { core.value.take(event) } }
        }
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

    /// A socket was lost, or is restored.
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
        let tree = QueryTree(
            setsElements: options.setsElements, port: open.withLock { $0?.sockets.port } ?? 0, name: options.name)
        return await tree.answer(request) { [loop, core] path in await loop.run { core.value.node(at: path) } }
    }

    private static func address(of destination: OSCBridgeOptions.Destination) async -> SocketAddress? {
        await withCheckedContinuation { continuation in
            // It may ask the network.
            DispatchQueue.global().async {
                continuation.resume(
                    returning: try? SocketAddress.makeAddressResolvingHost(destination.host, port: destination.port))
            }
        }
    }

    private func publishers(port: Int, _ queryPort: Int) throws(OSCBridgeError) -> [ServicePublisher] {
        guard options.isAnnounced else { return [] }
        do throws(ZeroconfError) {
            // Who does not reach it has no use for it.
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
