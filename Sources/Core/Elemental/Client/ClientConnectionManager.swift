import NIOCore

/// Makes the connections of a client's device, on its event loop: does what a ``ClientMachine`` decides.
///
/// It keeps the device while there is a connection or one is to come, and lets it go when idle.
final class ClientConnectionManager: ConnectionManager {
    typealias Machine = ClientMachine<ConnectionWaiter>

    /// Makes a connection to an endpoint for a device, and tells its owner what becomes of it.
    typealias Dial = (Connector.Endpoint, ElementalDevice, _ expectsHello: Bool, ClientConnection) -> Void

    let connector: Connector
    private let dial: Dial
    private let eventLoop: any EventLoop
    private var machine: Machine
    /// `nil` when idle.
    private var device: ElementalDevice?
    /// The connection that is there or is being made.
    private var current: ClientConnection?
    /// Where the service was last.
    private var endpoint: Connector.Endpoint
    /// What Zeroconf told last of the service; `nil` if it did not since the first connection.
    private var sighted: DiscoveredService?
    private var timer: Scheduled<Void>?
    private var watch: AnyObject?
    /// What is still to be done; an action may lead to further input.
    private var actions: [Machine.Action] = []
    private var isPerforming = false

    /// - Parameter dial: the connector's, except where a test has no sockets.
    init(_ connector: Connector, on eventLoop: any EventLoop, dial: Dial? = nil) {
        self.connector = connector
        self.dial = dial ?? connector.open
        self.eventLoop = eventLoop
        endpoint = connector.endpoint
        machine = Machine(connector.options.reconnection)
    }

    private var network: any ClientNetwork { connector.options.network }

    /// Whether there is no connection, and none is to come.
    var isIdle: Bool { machine.state == .idle }

    // MARK: What the program asks for

    func connect(_ device: ElementalDevice, _ waiter: ConnectionWaiter) {
        if waiter.isCancelled { return waiter.answer(.connectingCancelled) }
        self.device = device
        handle(.connect(waiter))
    }

    func cancel(_ waiter: ConnectionWaiter) { handle(.cancel(waiter, closes: waiter.closesWhenCancelled)) }

    func disconnect(_ reason: DisconnectReason) { handle(.disconnect(reason)) }

    // MARK: What becomes of a connection

    func connectionIsOpen(_ connection: ClientConnection) { handle(.opened(connection.id)) }

    func connectionIsReady(_ connection: ClientConnection) { handle(.ready(connection.id)) }

    /// A connection begins to end.
    ///
    /// - Returns: whether another is to take its place.
    func connectionIsClosing(_ connection: ClientConnection, _ reason: DisconnectReason) -> Bool {
        handle(.closing(connection.id, reason))
        return machine.willReconnect(after: connection.id)
    }

    func connectionFailed(_ connection: ClientConnection, _ error: ElementalError) {
        handle(.failed(connection.id, error))
    }

    func connectionEnded(_ connection: ClientConnection, _ reason: DisconnectReason, peer: String) {
        handle(.ended(connection.id, reason, peer: peer))
    }

    // MARK: The machine

    func handle(_ input: Machine.Input) {
        actions += machine.handle(input, at: network.now)
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty { perform(actions.removeFirst()) }
        isPerforming = false
    }

    private func perform(_ action: Machine.Action) {
        switch action {
        case .open(let id): open(id)
        case .close(let id, let reason): if current?.id == id { current?.close(reason) }
        case .abandon(let id): if current?.id == id { current?.abandon() }
        case .startTimer(let delay):
            timer?.cancel()
            timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [self] in handle(.timer) }
        case .cancelTimer: timer?.cancel()
        case .startWatch: startWatch()
        case .stopWatch: watch = nil
        case .configure: if let device { connector.configure(device) }
        case .reopen: device?.reopen(hasHello: current?.hasHello == true)
        case .emit(let event): device?.emit(event)
        case .answer(let waiters, let error): for waiter in waiters { waiter.answer(error) }
        case .end(let reason): device?.end(reason)
        case .release:
            // Unless an answer has led to another connection.
            guard isIdle else { return }
            device = nil
            current = nil
        }
    }

    private func open(_ id: Machine.ConnectionID) {
        guard let device else { return }
        let connection = ClientConnection(id, self)
        current = connection
        let saysHello = sighted?.saysHello ?? (connector.options.expectsHello || device.hello != nil)
        dial(endpoint, device, saysHello, connection)
    }

    /// Follows the service by Zeroconf while the device is away.
    private func startWatch() {
        guard let service = connector.service else { return }
        var sightings = ServiceSightings(connector.peerName, known: endpoint, at: network.now)
        watch = network.watch(service, logger: connector.logger, on: eventLoop) { [weak self] event in
            guard let self, machine.isAway, let sighting = sightings.take(event, at: network.now) else { return }
            endpoint = sighting.service.endpoint
            sighted = sighting.service
            if sighting.isReturn { handle(.sighted(hasMoved: sighting.hasMoved)) }
        }
    }
}
