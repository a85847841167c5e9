import NIOCore
import NIOEmbedded
import TestSupport

@testable import Elemental

/// A service, its clients and the network between them, on one thread and on a clock driven by the seed.
final class World: @unchecked Sendable {
    static let host = "192.0.2.1"
    static let service = "simulated"
    static let name = "Service"

    /// Small, so that queues and buffers fill.
    static var limits: DeviceLimits {
        var limits = DeviceLimits()
        limits.maximumQueueByteCount = 512 * 1024
        limits.readyQueueByteCount = 16 * 1024
        return limits
    }

    let loop = EmbeddedEventLoop()
    let ledger = Ledger()
    let datagrams: SimulatedDatagrams
    let listing: SimulatedListing
    private(set) var port = 50_000
    private(set) var clients: [SimulatedClient] = []
    private var random: SeededGenerator
    private let service: ElementalService
    private var server: ServiceServer
    private var serviceDatagrams: EmbeddedChannel
    private var lines: [SimulatedLine] = []
    private var isListening = true
    /// The numbers of the service's connections, for what it sends over them.
    private var connections: [ObjectIdentifier: UInt32] = [:]
    private var connectedCount = 0
    private var disconnectedCount = 0
    private var pausedDevices: [ElementalDevice] = []
    private var troubles: Troubles

    /// The rate of each failure, as one in so many steps.
    struct Troubles {
        var isQuiet = false
        let stall: Int
        let reset: Int
        let silence: Int
        let restart: Int
        let leave: Int
        let daemon: Int

        init(_ random: inout SeededGenerator) {
            stall = random.number(20...400)
            reset = random.number(50...2000)
            silence = random.number(100...4000)
            restart = random.number(200...4000)
            leave = random.number(100...2000)
            daemon = random.number(50...2000)
        }
    }

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        troubles = Troubles(&random)
        datagrams = SimulatedDatagrams(loop: loop)
        listing = SimulatedListing(port: port, seed: random.next())
        datagrams.lossPercent = random.once(in: 2) ? 0 : random.number(0...60)
        var configuration = ServiceConfiguration()
        configuration.limits = Self.limits
        configuration.eventLoopGroup = loop
        configuration.maximumDeviceCountPerAddress = 64
        service = ElementalService(
            Self.service, displayName: Self.name, elements: Track.all, configuration: configuration)
        server = ServiceServer(service: service.shared, eventLoop: loop)
        serviceDatagrams = EmbeddedChannel(loop: loop)
        try openDatagrams()
        listen()
        for number in 0..<random.number(1...3) {
            clients.append(
                try SimulatedClient(
                    self, number: number, knowsElements: !random.once(in: 3), expectsHello: !random.once(in: 3),
                    isPatient: random.once(in: 3)))
        }
    }

    private func openDatagrams() throws {
        let address = try SocketAddress(ipAddress: Self.host, port: port)
        serviceDatagrams = datagrams.open(at: address, to: nil)
        try serviceDatagrams.pipeline.syncOperations.addHandler(server.makeDatagramHandler())
        serviceDatagrams.connect(to: address, promise: nil)
        server.open(datagrams: serviceDatagrams)
    }

    private func listen() {
        let ledger = ledger
        service.onEvent { [unowned self] event in
            switch event {
            case .deviceConnected(let device):
                connectedCount += 1
                check(connections[ObjectIdentifier(device)] == nil, "\(device) connected twice")
                connections[ObjectIdentifier(device)] = ledger.open()
                trace("the service's \(device) has connection \(connections[ObjectIdentifier(device)] ?? 0)")
            case .deviceDisconnected(let device, let reason):
                disconnectedCount += 1
                trace("the service's \(device) is gone: \(reason)")
                check(!reason.description.isEmpty, "an end without a reason")
                check(connections.removeValue(forKey: ObjectIdentifier(device)) != nil, "\(device) ended twice")
                pausedDevices.removeAll { $0 === device }
            default: break
            }
        }
        service.onValue(of: Track.up.number) { ledger.note(received: Numbered($0), .number, from: $1) }
        service.onValue(of: Track.up.blob) { ledger.note(received: Blob.number($0), .blob, from: $1) }
        service.onValue(of: Track.up.newest) { ledger.note(received: Numbered($0), .newest, from: $1) }
        service.onValue(of: Track.up.motion) { ledger.note(received: Numbered($0), .motion, from: $1) }
    }

    // MARK: The network

    func connect(from address: SocketAddress, to port: Int, timeout: TimeAmount) -> EventLoopFuture<any Channel> {
        let promise = loop.makePromise(of: (any Channel).self)
        if random.once(in: 30), !troubles.isQuiet {
            loop.scheduleTask(in: timeout) { promise.fail(ChannelError.connectTimeout(timeout)) }
            return promise.futureResult
        }
        loop.scheduleTask(in: .milliseconds(Int64(random.number(0...30)))) { [self] in
            guard isListening, port == self.port else {
                promise.fail(IOError(errnoCode: 111, reason: "connect"))
                return
            }
            do {
                let capacity =
                    random.once(in: 3) && !troubles.isQuiet ? random.number(1...2000) : random.number(2000...400_000)
                let here = try SocketAddress(ipAddress: Self.host, port: port)
                let client = try SimulatedSocket(loop: loop, remote: here, capacity: capacity)
                let accepted = try SimulatedSocket(loop: loop, remote: address, capacity: capacity)
                lines.append(SimulatedLine(client: client, server: accepted))
                try server.accept(accepted.channel)
                accepted.channel.connect(to: address, promise: nil)
                client.channel.connect(to: here, promise: nil)
                promise.succeed(client.channel)
            } catch {
                fatalError("\(error)")
            }
        }
        return promise.futureResult
    }

    private func trouble() {
        if let line = lines.randomElement(using: &random) {
            if random.once(in: troubles.stall) {
                let seconds = random.once(in: 3) ? random.number(1...120) : 0
                line.stalledUntil =
                    loop.now + .seconds(Int64(seconds)) + .milliseconds(Int64(random.number(1...3000)))
            }
            if random.once(in: troubles.reset) { line.reset() }
            if line.silentSince == nil, random.once(in: troubles.silence) { line.silentSince = loop.now }
        }
        if random.once(in: troubles.restart), isListening { restart(isListed: random.once(in: 3)) }
        if random.once(in: troubles.daemon) { listing.isDaemonThere.toggle() }
    }

    /// The service shuts down in order and is back after a while, perhaps on another port. It may stay listed meanwhile,
    /// like one that was killed.
    private func restart(isListed: Bool) {
        isListening = false
        _ = server.stop("restarting")
        if !isListed { listing.port = nil }
        let pause = TimeAmount.milliseconds(Int64(random.number(1100...20_000)))
        loop.scheduleTask(in: pause) { [self] in
            serviceDatagrams.close(promise: nil)
            server = ServiceServer(service: service.shared, eventLoop: loop)
            if random.once(in: 2) { port += 1 }
            do { try openDatagrams() } catch { fatalError("\(error)") }
            isListening = true
            listing.port = port
        }
    }

    private func step(_ time: TimeAmount) {
        loop.advanceTime(by: time)
        datagrams.step(&random)
        listing.step()
        for line in lines { line.step(at: loop.now, &random) }
        loop.run()
        lines.removeAll(where: \.isOver)
    }

    // MARK: The programs

    func send(
        to device: ElementalDevice, _ elements: Track.Elements, _ connection: UInt32, _ random: inout SeededGenerator
    ) {
        let kind = Ledger.Kind.allCases.randomElement(using: &random) ?? .number
        for _ in 0..<(random.once(in: 5) ? random.number(1...300) : 1) {
            let number = ledger.next(kind, on: connection)
            do {
                switch kind {
                case .number: try device.send(number.value, to: elements.number)
                case .blob:
                    let count = random.once(in: 3) ? random.number(8...400_000) : random.number(8...3000)
                    try device.send(Blob.make(number, byteCount: count), to: elements.blob)
                case .newest: try device.send(number.value, to: elements.newest)
                case .motion: try device.send(number.value, to: elements.motion)
                }
                ledger.note(sent: number, kind)
            } catch {
                check(
                    [.queueFull, .notConnected, .udpUnavailable, .unknownElement].contains(error.code),
                    "sending to \(device): \(error)")
                return
            }
        }
    }

    private func sendToAll() {
        for device in service.devices {
            guard let connection = connections[ObjectIdentifier(device)] else { continue }
            send(to: device, Track.down, connection, &random)
        }
    }

    private func act() {
        guard let client = clients.randomElement(using: &random) else { return }
        switch random.number(0...9) {
        case 0...3: client.send(&random)
        case 4...7:
            guard let device = service.devices.min(by: { $0.name < $1.name }),
                let connection = connections[ObjectIdentifier(device)]
            else { return }
            send(to: device, Track.down, connection, &random)
        case 8:
            if random.once(in: 5) { client.togglePause() }
            if random.once(in: 8), let device = service.devices.first {
                if let position = pausedDevices.firstIndex(where: { $0 === device }) {
                    pausedDevices.remove(at: position).resume()
                } else {
                    device.pause()
                    pausedDevices.append(device)
                }
            }
        default:
            if client.isAtRest, client.waitCount == 0 { client.connect() }
            if random.once(in: troubles.leave) { client.disconnect() }
        }
    }

    // MARK: A run

    /// Injects failures for a while, then none, and checks that everything is as it should be.
    func run() {
        for client in clients { client.connect() }
        for _ in 0..<random.number(200...1500) {
            trouble()
            for _ in 0..<random.number(0...4) { act() }
            step(Self.pauses.randomElement(using: &random) ?? .zero)
        }
        settle()
        if random.once(in: 2) { leave() } else { stop() }
        for _ in 0..<1500 { step(.milliseconds(1)) }
        for client in clients { client.disconnect() }
        for _ in 0..<200 { step(.milliseconds(50)) }
        for client in clients {
            check(client.isAtRest, "\(client.name) is not at rest after it was closed")
            check(client.waitCount == 0, "\(client.waitCount) waits of \(client.name) were not answered")
            check(client.device.disconnectReason != nil, "\(client.name) has ended without a reason")
        }
        check(service.devices.isEmpty, "\(service.devices) are there after all have gone")
        check(connectedCount == disconnectedCount, "\(connectedCount) connected, \(disconnectedCount) disconnected")
        check(
            server.incompleteByteCount == 0,
            "\(server.incompleteByteCount) bytes of values that are gone are in the account")
    }

    private static let pauses: [TimeAmount] = [
        .zero, .zero, .microseconds(100), .milliseconds(1), .milliseconds(1), .milliseconds(10), .milliseconds(10),
        .milliseconds(100), .milliseconds(700), .seconds(5),
    ]

    /// The network works again: all clients that should be connected are, and everything that was sent arrives.
    private func settle() {
        troublesEnd()
        for _ in 0..<2000 { step(.milliseconds(200)) }
        // Clients that wait for Zeroconf need a change to be notified of.
        if clients.contains(where: { $0.device.isReconnecting }) {
            restart(isListed: false)
            // In small steps: a handshake has five seconds, however finely its bytes are split.
            for _ in 0..<3000 { step(.milliseconds(20)) }
        }
        for client in clients where client.isAtRest { client.connect() }
        for _ in 0..<500 { step(.milliseconds(50)) }
        for client in clients {
            check(client.device.isConnected && client.connection != nil, "\(client.name) is not connected again")
            client.send(&random)
        }
        sendToAll()
        for _ in 0..<3000 { step(.milliseconds(10)) }
        for client in clients {
            if let connection = client.connection { ledger.checkComplete(connection) }
            check(client.device.statistics.messagesUnsent >= 0, "fewer than no values are unsent")
        }
        check(
            service.devices.count == clients.count,
            "\(service.devices.count) devices of \(clients.count) clients")
        for connection in connections.values { ledger.checkComplete(connection) }
    }

    /// The clients send something and close immediately: all of it arrives.
    private func leave() {
        let connections = clients.compactMap(\.connection)
        for client in clients {
            client.send(&random)
            client.disconnect()
        }
        for _ in 0..<1500 { step(.milliseconds(1)) }
        for connection in connections { ledger.checkComplete(connection) }
    }

    /// The service sends something and stops: all of it arrives, and the clients are sent the reason.
    private func stop() {
        let told = clients.map(\.shutdownCount)
        sendToAll()
        let connections = Array(connections.values)
        isListening = false
        _ = server.stop("the simulation is over")
        for _ in 0..<1500 { step(.milliseconds(1)) }
        for connection in connections { ledger.checkComplete(connection) }
        check(clients.map(\.shutdownCount) == told.map { $0 + 1 }, "not all clients were told that the service stops")
    }

    private func troublesEnd() {
        troubles.isQuiet = true
        for client in clients where client.isPaused { client.togglePause() }
        for device in pausedDevices { device.resume() }
        pausedDevices = []
        datagrams.lossPercent = 0
        listing.isDaemonThere = true
        for line in lines {
            line.stalledUntil = loop.now
            line.client.capacity = 1 << 20
            line.server.capacity = 1 << 20
        }
    }
}
