import ElementalSecurity
import NIOCore
import Synchronization

/// Establishes the connections of a client's device, on its event loop: carries out what a ``ClientMachine`` decides.
///
/// It retains the device while there is a connection or one is pending, and releases it when idle.
final class ClientConnectionManager: ConnectionManager {
    typealias Machine = ClientMachine<ConnectionWaiter>

    let connector: Connector
    private let eventLoop: any EventLoop
    private var machine: Machine
    private var device: ElementalDevice?
    private var current: ClientConnection?
    private var sighted: DiscoveredService?
    private var sightings: ServiceSightings?
    /// The key that the service proved on an encrypted connection of this device, which accepts no other from then on.
    var provenIdentity: Fingerprint?
    /// The pins that decided how the newest connection is made.
    var pins: [TrustedService] = []
    private var timer: Scheduled<Void>?
    /// Waits for a pairing that permits more than the connection does.
    private var trustWatch: AnyObject?
    private var watch: AnyObject?
    private var actions: [Machine.Action] = []
    private var isPerforming = false

    init(_ connector: Connector, on eventLoop: any EventLoop) {
        self.connector = connector
        self.eventLoop = eventLoop
        machine = Machine(connector.options.reconnection)
    }

    /// The service as Zeroconf described it, if it was found that way. Anyone on the network can publish it.
    var found: DiscoveredService? { sighted ?? connector.place.discovered }
    private var endpoint: ServiceEndpoint { found?.endpoint ?? connector.place.endpoint }

    private var network: any ClientNetwork { connector.options.network }

    var isIdle: Bool { machine.state == .idle }

    func connect(_ device: ElementalDevice, _ waiter: ConnectionWaiter) {
        if waiter.isCancelled { return waiter.answer(.connectingCancelled) }
        self.device = device
        handle(.connect(waiter))
    }

    func cancel(_ waiter: ConnectionWaiter) { handle(.cancel(waiter, closes: waiter.closesWhenCancelled)) }

    func disconnect() { handle(.disconnect(DisconnectReason(.closedHere))) }

    /// - Returns: whether the connection will be replaced.
    func connectionIsClosing(_ connection: ClientConnection, _ reason: DisconnectReason) -> Bool {
        handle(.closing(connection.id, reason))
        return machine.willReconnect(after: connection.id)
    }

    func connectionFailed(_ connection: ClientConnection, _ error: ElementalError) {
        let isNextUntried = connection.id == current?.id && sightings?.noteFailure() == true
        handle(.failed(connection.id, error))
        if isNextUntried { handle(.sighted(hasMoved: false)) }
    }

    func connectionEnded(_ connection: ClientConnection, _ reason: DisconnectReason, peer: String) {
        if connection.id == current?.id, machine.isAway { _ = sightings?.noteFailure() }
        handle(.ended(connection.id, reason, peer: peer, isProven: provenIdentity != nil))
    }

    func handle(_ input: Machine.Input) {
        actions += machine.handle(input, at: network.now)
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty { perform(actions.removeFirst()) }
        isPerforming = false
        watchTrust()
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
        case .stopWatch:
            watch = nil
            sightings = nil
        case .configure:
            guard let device else { return }
            device.beginMetrics()
            connector.configure(device)
        case .reopen: device?.reopen(hasHello: current?.hasHello == true)
        case .emit(let event): device?.emit(event)
        case .answer(let waiters, let error): for waiter in waiters { waiter.answer(error) }
        case .end(let reason): device?.end(reason)
        case .release:
            // Unless resuming a waiter has led to another connection.
            guard isIdle else { return }
            device = nil
            current = nil
        }
    }

    private func open(_ id: Machine.ConnectionID) {
        guard let device else { return }
        if let place = sightings?.next() { sighted = place }
        let saysHello = sighted?.saysHello ?? (connector.saysHello || device.hello != nil)
        let connection = ClientConnection(id, of: device, to: endpoint, expectsHello: saysHello, self)
        current = connection
        connection.open()
    }

    private var mayGain: Bool {
        guard case .ready = machine.state, let device else { return false }
        return device.fingerprint == nil || device.grantedRole ?? .plain < connector.options.security.role
    }

    /// Replaces the connection when a pairing permits encryption or a higher role.
    private func watchTrust() {
        guard mayGain, let source = connector.options.security.source else { return trustWatch = nil }
        guard trustWatch == nil else { return }
        trustWatch = source.watch(on: eventLoop) { [weak self] trust in
            guard let self, mayGain, let device else { return }
            let gives = trust.gives(
                connector.target(sighted), key: device.fingerprint,
                granted: device.grantedRole ?? .plain, wanted: connector.options.security.role, since: pins)
            if gives { handle(.renew(DisconnectReason(.pairingChanged))) }
        }
    }

    /// Follows the service by Zeroconf while the device is disconnected.
    private func startWatch() {
        guard let service = connector.service else { return }
        sightings = ServiceSightings(
            connector.peerName, provenIdentity?.short, known: endpoint, at: network.now)
        watch = network.watch(service, logger: connector.logger, on: eventLoop) { [weak self] event in
            guard let self, machine.isAway, let sighting = sightings?.take(event, at: network.now) else { return }
            if sighting.isReturn { handle(.sighted(hasMoved: sighting.hasMoved)) }
        }
    }
}
