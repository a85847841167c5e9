import Logging
import NIOCore
import NIOEmbedded
import TestSupport

@testable import Elemental

/// A client that keeps its positions: a device that reconnects, and a program that reads the histories. Its program may be killed.
final class HistoryClient: @unchecked Sendable {
    private struct Kept {
        let position: String
        let value: Int
    }

    let name: String
    let address: SocketAddress
    private unowned let day: HistoryDay
    private var device: ElementalDevice?
    private var manager: ClientConnectionManager?
    private var tasks: [Task<Void, Never>] = []
    private(set) var tracks: [HistoryAccount.Track]
    /// The newest of each element: what a program that is killed may have written last.
    private var kept: [[Kept]] = [[], []]
    private var run = 0
    /// Until when its program takes long for each value, and until when it may have values from long ago.
    private var slowUntil: Int64 = .min

    init(_ day: HistoryDay, number: Int) throws {
        self.day = day
        name = "client\(number)"
        address = try SocketAddress(ipAddress: "192.0.2.\(number + 10)", port: 40_000 + number)
        tracks = [HistoryAccount.Track(element: 0), HistoryAccount.Track(element: 1)]
    }

    // MARK: The program

    func start() {
        run += 1
        day.log("\(name) starts")
        let loop = day.clientLoop
        let network = HistoryNetwork(day, address)
        var options = ConnectOptions()
        options.reconnection = SimulatedPolicy()
        options.network = network
        options.eventLoopGroup = loop
        let elements: ElementCatalogue = [HistoryHost.elements[0], HistoryHost.elements[1]]
        let connector = Connector(
            place: .found(SimulatedListing.service(at: HistoryDay.port)), ownName: name, elements: elements,
            options: options
        ) { _ in }
        let manager = ClientConnectionManager(connector, on: loop)
        let device = ElementalDevice(
            role: .service, name: "Weather", address: nil, service: HistoryHost.service,
            elements: ElementTable(elements), executor: LoopExecutor(on: loop), limits: options.limits,
            logger: options.logger, manager: NIOLoopBoundBox(manager, eventLoop: loop))
        device.onEvent { [unowned self] event in day.log("\(name): \(event)") }
        (self.device, self.manager) = (device, manager)
        connect(device, manager, run)
    }

    private func connect(_ device: ElementalDevice, _ manager: ClientConnectionManager, _ run: Int) {
        let wait = ConnectionWaiter(day.clientLoop, closesWhenCancelled: false)
        manager.connect(device, wait)
        wait.result.assumeIsolated().whenComplete { [self] result in
            guard run == self.run else { return }
            if case .success = result { return read(device) }
            day.clientLoop.scheduleTask(in: .seconds(5)) { [self] in
                if run == self.run { connect(device, manager, run) }
            }
        }
    }

    private func read(_ device: ElementalDevice) {
        day.log("\(name) is connected")
        let run = run
        tasks = tracks.indices.map { element in
            Task(executorPreference: LoopExecutor(on: day.clientLoop)) { [self] in
                while run == self.run { await read(element, of: device, run) }
            }
        }
    }

    private func read(_ element: Int, of device: ElementalDevice, _ run: Int) async {
        do {
            let start = kept[element].last.flatMap { HistoryPosition($0.position) }
            let items = device.history(
                of: HistoryHost.elements[element], from: start.map { .position($0) } ?? .oldest)
            for try await item in items {
                guard run == self.run else { return }
                note(item, element)
                if slowUntil > day.now { await pause() }
            }
            check(run != self.run, "\(name) gets no more values")
        } catch {
            // A service whose hello is late could be an older one.
            check(
                run != self.run || error.code == .timedOut,
                "\(name) gets no more values: \(error), \(device.hello.map { "\($0)" } ?? "no hello")")
        }
    }

    private func note(_ item: HistoryItem<UInt64>, _ element: Int) {
        let account = day.host.account
        switch item {
        case .gap(let gap):
            day.log(
                "\(name) misses of \(element) \(gap.count.map { "\($0)" } ?? "?"), at most \(gap.maximumCount ?? .max)")
            account.note(gap, &tracks[element], at: day.now)
        case .value(let value):
            let number = Int(clamping: value.value)
            if tracks[element].last.map({ $0 + 1 != number }) ?? true {
                day.log("\(name) has \(number) of \(element) behind \(tracks[element].last ?? -1)")
            }
            account.note(number, &tracks[element], at: day.now)
            let time = value.time.map { time in
                let components = time.error.components
                return (
                    time: time.time.microseconds - HistoryDay.clientAge,
                    error: components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
                )
            }
            let isLate =
                day.now < slowUntil + 200_000_000 || day.now < account.boots[account.boots.count - 1].began + 10_000_000
            account.note(time: time, of: number, element, at: day.now, isLate: isLate)
            kept[element].append(Kept(position: value.position.description, value: number))
            if kept[element].count > 200 { kept[element].removeFirst(100) }
        }
    }

    private func pause() async {
        await withCheckedContinuation { continuation in
            day.clientLoop.scheduleTask(in: .milliseconds(700)) { continuation.resume() }
        }
    }

    func becomeSlow(until time: Int64) { slowUntil = max(slowUntil, time) }

    /// - Parameter lost: how many values of each element were not yet noted where the program would find that again.
    func kill(lost: Int) {
        day.log("\(name) is killed, \(lost) positions are lost")
        run += 1
        for task in tasks { task.cancel() }
        tasks = []
        device?.disconnect()
        (device, manager) = (nil, nil)
        for element in tracks.indices {
            kept[element].removeLast(min(lost, kept[element].count))
            let known = tracks[element].known
            tracks[element] = HistoryAccount.Track(element: element, last: kept[element].last?.value)
            tracks[element].known = known
        }
    }

    var isRunning: Bool { device != nil }
}

/// The network as such a client sees it.
final class HistoryNetwork: ClientNetwork, @unchecked Sendable {
    private unowned let day: HistoryDay
    private let address: SocketAddress
    private static let start = ContinuousClock.now

    init(_ day: HistoryDay, _ address: SocketAddress) {
        (self.day, self.address) = (day, address)
    }

    func connect(
        to endpoint: ServiceEndpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> { day.connect(from: address, timeout: TimeAmount(options.timeout)) }

    var now: ContinuousClock.Instant { Self.start + .microseconds(day.now) }

    func watch(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) -> AnyObject { self }

    func openDatagrams(
        to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        eventLoop.makeFailedFuture(IOError(errnoCode: 113, reason: "no datagrams"))
    }
}
