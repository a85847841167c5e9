public import Elemental
import NIOCore
import NIOPosix
import SerialLines
import Support

/// Takes the place of a Commodore 64's modem, and publishes the machine behind it as a service for any client.
///
/// ```swift
/// let gateway = CommodoreGateway(line: .serial(path: "/dev/ttyUSB0"), displayName: "Den")
/// try await gateway.run()
/// ```
/// The service stays while the machine is disconnected; the element ``CommodoreElements/present`` shows whether it is
/// connected.
public final class CommodoreGateway: Sendable {
    /// The service that represents the machine. Start it with ``run()``, or separately around ``openLine()``.
    ///
    /// With a virtual machine the gateway sets `onConnectionRequest`, so that the first picture for the first client is
    /// the newest one. If a program sets its own handler, the first picture may be stale.
    public let service: ElementalService
    private let line: GatewayLine
    private let configuration: GatewayConfiguration
    private let eventLoop: any EventLoop
    private let events = EventHub<GatewayEvent>()
    private let state = Locked(State())

    private struct State {
        var server: NIOLoopBound<GatewayServer>?
        var machine: VirtualMachine?
    }

    /// Creates a gateway that is not published yet.
    ///
    /// - Parameters:
    ///   - line: the line to the machine.
    ///   - service: the name of the service, by which clients find it.
    ///   - displayName: the instance name, which users see; `nil` for the host's name.
    ///   - configuration: speed, pace, and what clients may do.
    public init(
        line: GatewayLine, service: String = "commodore", displayName: String? = nil,
        configuration: GatewayConfiguration = GatewayConfiguration()
    ) {
        self.line = line
        self.configuration = configuration
        // One loop for line and clients: values pass between them without changing threads.
        eventLoop = configuration.service.eventLoopGroup.next()
        var serviceConfiguration = configuration.service
        serviceConfiguration.eventLoopGroup = eventLoop
        let isVirtual = if case .virtual = line { true } else { false }
        self.service = ElementalService(
            service, displayName: displayName,
            elements: CommodoreElements.catalogue(allowsMemory: configuration.allowsMemory, isVirtual: isVirtual),
            configuration: serviceConfiguration)
        self.service.onAnyValue { [weak self] element, value, device in
            self?.server?.take(value, of: element, from: device)
        }
        guard isVirtual else { return }
        self.service.onEvent { [weak self] event in
            guard let panel = self?.server?.panel else { return }
            switch event {
            case .deviceConnected: panel.screen.clientsChanged()
            case .deviceDisconnected(let device, _):
                panel.release(device)
                panel.screen.clientsChanged()
            default: break
            }
        }
        self.service.onConnectionRequest { [weak self] _ in
            self?.server?.panel?.screen.refresh()
            return .accept
        }
    }

    /// Set while the line is open. Used on the event loop only.
    private var server: GatewayServer? { state.withLock { $0.server }?.value }

    /// Calls `handler` with every event of the gateway, on its event loop. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (GatewayEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(events.addEventHandler(handler))
    }

    /// The virtual Commodore, while the line is open and leads to one.
    public var virtualMachine: VirtualMachine? { state.withLock { $0.machine } }

    /// Opens the line, and reopens it when it is lost, until ``closeLine()``.
    ///
    /// - Throws: ``GatewayError`` if the line cannot be opened.
    public func openLine() async throws(GatewayError) {
        let (line, machine) = try await makeLine()
        await eventLoop.run { [self] in
            let server = GatewayServer(
                line: line.value, machine: machine, service: service, configuration: configuration, eventLoop: eventLoop
            ) { [events] event in events.emit(event) }
            state.withLock { state in
                state.server = NIOLoopBound(server, eventLoop: eventLoop)
                state.machine = machine
            }
            server.start()
        }
    }

    /// Closes the line.
    public func closeLine() async {
        let server = state.withLock { state in
            state.machine = nil
            return state.server.take()
        }
        guard let server else { return }
        await eventLoop.run { server.value.stop() }
    }

    var renderedPictureCount: Int {
        get async { await eventLoop.run { [self] in server?.panel?.screen.renderedCount ?? 0 } }
    }

    /// Opens the line, publishes and serves until the task is cancelled or a service group shuts it down gracefully.
    ///
    /// - Throws: ``GatewayError`` if the line cannot be opened, `ElementalError` if the service cannot start.
    public func run() async throws {
        try await openLine()
        do {
            try await service.run()
        } catch {
            await closeLine()
            throw error
        }
        await closeLine()
    }

    private func makeLine() async throws(GatewayError) -> (NIOLoopBound<any Line>, VirtualMachine?) {
        let place: LinePlace
        switch line {
        case .serial(let path):
            place = .device(path: path, baud: configuration.baud, usesFlowControl: configuration.usesFlowControl)
        case .pseudoTerminal(let link): place = .pseudoTerminal(link: link)
        case .tcp(let host, let port, let usesIP232): place = .listen(host: host, port: port, usesIP232: usesIP232)
        case .virtual(let program, let standard):
            let machine = try VirtualMachine(program, standard: standard, baud: configuration.baud)
            let eventLoop = eventLoop
            let line = await eventLoop.run {
                NIOLoopBound(VirtualLine(machine, on: eventLoop) as any Line, eventLoop: eventLoop)
            }
            return (line, machine)
        }
        return (try await place.line(on: eventLoop), nil)
    }
}
