import NIOCore
import NIOEmbedded
import TestSupport

@testable import Elemental

/// A client in the simulation: a device that reconnects, and the program that uses it. Everything runs on one thread.
final class SimulatedClient: @unchecked Sendable {
    let name: String
    let address: SocketAddress
    /// The number of the current connection, for what is sent over it; `nil` if there is none.
    private(set) var connection: UInt32?
    let device: ElementalDevice
    private(set) var isPaused = false
    private(set) var endCount = 0
    private(set) var connectCount = 0
    /// How often the service announced that the simulation is over.
    private(set) var shutdownCount = 0
    /// Attempts that the program requested and that have no result yet.
    private(set) var waitCount = 0
    private let world: World
    private let manager: ClientConnectionManager
    private let network: SimulatedNetwork
    private let knowsElements: Bool
    /// Whether the client waits for Zeroconf to report that the service is back, rather than retrying.
    let isPatient: Bool

    init(_ world: World, number: Int, knowsElements: Bool, expectsHello: Bool, isPatient: Bool) throws {
        self.world = world
        self.knowsElements = knowsElements
        self.isPatient = isPatient
        name = "client\(number)"
        address = try SocketAddress(ipAddress: "192.0.2.\(number + 10)", port: 40_000 + number)
        var options = ConnectOptions()
        options.limits = World.limits
        options.reconnection = (isPatient ? ListedDelays([.seconds(1_000_000)]) : SimulatedPolicy())
        network = SimulatedNetwork(world, from: address)
        options.network = network
        options.eventLoopGroup = world.loop
        let box = Box()
        let connector = Connector(
            place: .found(SimulatedListing.service(at: world.port, saysHello: expectsHello)), ownName: name,
            elements: knowsElements ? Track.all : nil, options: options
        ) { _ in box.client?.configure() }
        manager = ClientConnectionManager(connector, on: world.loop)
        var limits = options.limits
        limits.handshakeTimeout = options.timeout
        device = ElementalDevice(
            role: .service, name: World.name, address: nil, service: World.service,
            elements: ElementTable(knowsElements ? Track.all : []), executor: LoopExecutor(on: world.loop),
            limits: limits, logger: options.logger, manager: NIOLoopBoundBox(manager, eventLoop: world.loop))
        box.client = self
        device.onEvent { [unowned self] event in
            trace("\(name): \(event)")
            switch event {
            case .willReconnect(let attempt, _):
                // A short-lived connection counts as a failed attempt after the loss before it.
                let why = attempt.lastError.map { "\($0)" } ?? "\(attempt.reason)"
                if connection != nil, why.contains("the simulation is over") { shutdownCount += 1 }
                connection = nil
            case .didReconnect: begin()
            case .disconnected(let reason):
                connection = nil
                endCount += 1
                check(!reason.description.isEmpty, "an end without a reason")
                check(endCount <= connectCount, "\(name) ended \(endCount) times after \(connectCount) connections")
            }
        }
    }

    /// Gives the connector, which is created first, access to the client.
    private final class Box: @unchecked Sendable { weak var client: SimulatedClient? }

    private func configure() {
        let ledger = world.ledger
        trace("\(name) configures: \(device.statistics)")
        world.ledger.maySkipFirst = world.ledger.maySkipFirst || !knowsElements
        device.onValue(of: Track.down.number) { ledger.note(received: Numbered($0), .number, from: $1) }
        device.onValue(of: Track.down.blob) { ledger.note(received: Blob.number($0), .blob, from: $1) }
        device.onValue(of: Track.down.newest) { ledger.note(received: Numbered($0), .newest, from: $1) }
        device.onValue(of: Track.down.motion) { ledger.note(received: Numbered($0), .motion, from: $1) }
        begin()
    }

    private func begin() {
        connectCount = max(connectCount, endCount + 1)
        connection = world.ledger.open()
        trace("\(name) has connection \(connection ?? 0)")
    }

    // MARK: The program

    var isAtRest: Bool { manager.isIdle }

    func connect() {
        let wait = ConnectionWaiter(world.loop, closesWhenCancelled: false)
        waitCount += 1
        network.knowsPort = true
        manager.connect(device, wait)
        wait.result.assumeIsolated().whenComplete { [unowned self] result in
            waitCount -= 1
            network.knowsPort = waitCount > 0
            // After an end, the same device continues.
            if case .success = result, connection == nil, device.isConnected { begin() }
        }
    }

    func disconnect() { device.disconnect() }

    func togglePause() {
        isPaused.toggle()
        if isPaused { device.pause() } else { device.resume() }
    }

    func send(_ random: inout SeededGenerator) {
        guard let connection else { return }
        world.send(to: device, Track.up, connection, &random)
    }
}

struct SimulatedPolicy: ReconnectionPolicy {
    func delay(before attempt: ReconnectionAttempt) -> Duration? { .milliseconds(min(attempt.number * 300, 10_000)) }
}
