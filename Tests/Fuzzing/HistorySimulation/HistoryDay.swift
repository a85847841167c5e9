import ElementalHistory
import Foundation
import NIOCore
import NIOEmbedded
import TestSupport

@testable import Elemental

/// Hours of a service with histories in files and of its clients, on one thread, on simulated clocks, a simulated network and a
/// simulated disk: the service, its sessions, the files and the clients' devices are the real ones.
final class HistoryDay: @unchecked Sendable {
    /// The events of a day, and how often each happens.
    enum Event: CaseIterable, Sendable {
        case outage, kill, powerFailure, stop, machineRestart, clockJump, fullDisk, clientKill, slowClient, burst

        var count: Int {
            switch self {
            case .outage: 200
            case .kill: 60
            case .powerFailure: 30
            case .stop: 20
            case .machineRestart: 10
            case .clockJump: 40
            case .fullDisk: 12
            case .clientKill: 80
            case .slowClient: 40
            case .burst: 150
            }
        }
    }

    static let port = 50_000
    /// By how much the clients' clock is ahead of the simulation's: the service's machine has another.
    static let clientAge: Int64 = 5_000_000_000

    let clientLoop = EmbeddedEventLoop()
    let host: HistoryHost
    /// Microseconds since the beginning.
    private(set) var now: Int64 = 0
    private let seconds: Int
    private var random: SeededGenerator
    private var clients: [HistoryClient] = []
    private var lines: [(line: SimulatedLine, client: SocketAddress)] = []
    private var events: [(second: Int, event: Event)] = []
    private var counts: [Event: Int] = [:]
    private var networkIsDownUntil: Int64 = .min
    /// When what is off is on again.
    private var timers: [(time: Int64, body: () -> Void)] = []
    private var burstUntil: Int64 = .min
    /// A program that ends at its next call of the disk, or a moment later.
    private var ending: (end: HistoryHost.End, began: Int64, until: Int64)?
    private var isStopping = false
    private var isRestarting = false

    init(_ folder: String, seed: UInt64, hours: Double) throws {
        random = SeededGenerator(seed: seed)
        seconds = Int(hours * 3600)
        host = HistoryHost(folder, [Self.limits(&random), nil], seed: random.next())
        host.log = { [unowned self] in log($0) }
        clients = try (0..<2).map { try HistoryClient(self, number: $0) }
        for event in Event.allCases {
            for _ in 0..<event.count { events.append((random.number(10...max(11, seconds)), event)) }
        }
        events.sort { ($0.second, "\($0.event)") > ($1.second, "\($1.event)") }
    }

    private static func limits(_ random: inout SeededGenerator) -> HistoryLimits? {
        switch random.number(0...4) {
        case 0: HistoryLimits(count: random.number(200...3000))
        case 1: HistoryLimits(seconds: random.number(300...7200))
        case 2: HistoryLimits(byteCount: random.number(20_000...400_000))
        default: nil
        }
    }

    func log(_ what: String) {
        print("\(Double(now / 1000) / 1000): \(what)")
        fflush(nil)
    }

    // MARK: The network

    func connect(from address: SocketAddress, timeout: TimeAmount) -> EventLoopFuture<any Channel> {
        let promise = clientLoop.makePromise(of: (any Channel).self)
        let isDown = networkIsDownUntil > now
        clientLoop.scheduleTask(in: isDown ? timeout : .milliseconds(Int64(random.number(1...30)))) { [self] in
            guard !isDown else { return promise.fail(ChannelError.connectTimeout(timeout)) }
            guard host.isRunning, !isStopping else {
                return promise.fail(IOError(errnoCode: 111, reason: "connect"))
            }
            do {
                let capacity = random.number(2000...400_000)
                let there = try SocketAddress(ipAddress: "192.0.2.1", port: Self.port)
                let client = try SimulatedSocket(loop: clientLoop, remote: there, capacity: capacity)
                let accepted = try SimulatedSocket(loop: host.loop, remote: address, capacity: capacity)
                host.enter()
                try host.accept(accepted.channel)
                accepted.channel.connect(to: address, promise: nil)
                enterClient()
                client.channel.connect(to: there, promise: nil)
                lines.append((SimulatedLine(client: client, server: accepted), address))
                promise.succeed(client.channel)
            } catch {
                fatalError("\(error)")
            }
        }
        return promise.futureResult
    }

    private func enterClient() { SimulatedMachine.set(time: now + Self.clientAge) }

    private func enter(_ socket: SimulatedSocket) {
        if socket.channel.eventLoop === host.loop { host.enter() } else { enterClient() }
    }

    private func loseNetwork() {
        let milliseconds = random.once(in: 3) ? random.number(10_000...180_000) : random.number(50...10_000)
        networkIsDownUntil = now + Int64(milliseconds) * 1000
        let kind = random.number(0...2)
        log("the network is down for \(milliseconds) ms, \(["stalled", "reset", "silent"][kind])")
        for (line, _) in lines {
            switch kind {
            case 0: line.stalledUntil = .uptimeNanoseconds(UInt64(networkIsDownUntil * 1000))
            case 1: line.reset(entering: enter)
            default: line.silentSince = line.silentSince ?? clientLoop.now
            }
        }
    }

    /// The service's end is gone: clients are told, or their machine gets no answer.
    private func breakLines(areSilent: Bool) {
        for (line, _) in lines {
            if areSilent {
                line.silentSince = line.silentSince ?? clientLoop.now
                host.enter()
                line.server.reset()
            } else {
                line.reset(entering: enter)
            }
        }
    }

    private func step(_ microseconds: Int64) {
        now += microseconds
        host.advance(to: now)
        enterClient()
        clientLoop.advanceTime(to: .uptimeNanoseconds(UInt64(now * 1000)))
        for (line, _) in lines { line.step(at: clientLoop.now, &random, entering: enter) }
        lines.removeAll { $0.line.isOver }
        host.enter()
        host.loop.run()
        enterClient()
        clientLoop.run()
        while let index = timers.firstIndex(where: { $0.time <= now }) { timers.remove(at: index).body() }
        if let ending, host.disk.hasEnded || now >= ending.until { end(ending.end, since: ending.began) }
    }

    private func after(seconds: Int, _ body: @escaping () -> Void) {
        timers.append((now + Int64(seconds) * 1_000_000, body))
    }

    // MARK: What happens

    private func perform(_ event: Event) {
        counts[event, default: 0] += 1
        switch event {
        case .outage: loseNetwork()
        case .kill, .powerFailure:
            guard host.isRunning, ending == nil, !isStopping else { return counts[event, default: 0] -= 1 }
            if random.once(in: 2) { host.disk.callsBeforeEnd = random.number(0...6) }
            let delay = host.disk.callsBeforeEnd == nil ? 0 : 2_000_000
            ending = (event == .kill ? .killed : .powerFailure, now, now + Int64(delay))
        case .stop, .machineRestart:
            guard host.isRunning, ending == nil, !isStopping else { return counts[event, default: 0] -= 1 }
            isStopping = true
            log("the service stops")
            host.stop { [self] in
                isStopping = false
                breakLines(areSilent: false)
                restart(withMachine: event == .machineRestart)
            }
        case .clockJump:
            let jump = random.number(-5 * 3600...5 * 3600)
            log("the time of day is set by \(jump) s")
            host.setTimeOfDay(aheadBy: Int64(jump) * 1_000_000)
        case .fullDisk:
            log("the disk is full")
            host.fillDisk(true)
            after(seconds: random.number(5...300)) { [self] in
                log("the disk has room")
                host.fillDisk(false)
            }
        case .clientKill:
            guard let client = clients.randomElement(using: &random), client.isRunning else { return }
            for (line, address) in lines where address == client.address { line.reset(entering: enter) }
            enterClient()
            client.kill(lost: random.once(in: 3) ? random.number(1...80) : 0)
            after(seconds: random.number(0...120)) { client.start() }
        case .slowClient:
            clients.randomElement(using: &random)?.becomeSlow(until: now + Int64(random.number(5...60)) * 1_000_000)
        case .burst: burstUntil = now + Int64(random.number(1...20)) * 1_000_000
        }
    }

    private func end(_ end: HistoryHost.End, since began: Int64) {
        ending = nil
        log(end == .killed ? "the service is killed" : "the power fails")
        host.end(end, since: began)
        log("element 0 has \(host.account.samples[0].count) values, element 1 \(host.account.samples[1].count)")
        breakLines(areSilent: end == .powerFailure)
        restart(withMachine: end == .powerFailure)
    }

    private func restart(withMachine isMachine: Bool) {
        isRestarting = true
        after(seconds: random.number(3...(random.once(in: 5) ? 120 : 10))) { [self] in
            isRestarting = false
            if isMachine { startMachine() }
            log("the service starts")
            host.start()
        }
    }

    private func startMachine() {
        log("the machine starts")
        host.startMachine()
        guard !random.once(in: 6) else { return }
        let start = host.account.boots.count
        after(seconds: random.once(in: 3) ? 0 : random.number(1...max(2, seconds / 100))) { [self] in
            if host.account.boots.count == start { host.learnTimeOfDay() }
        }
    }

    // MARK: A run

    private static let pauses: [Int64] = [500, 1000, 2000, 4000, 10_000, 40_000, 120_000, 250_000]

    private func second(_ events: [Event]) {
        if now % 5_000_000 < 1_000_000 { host.send(1) }
        // It did not start, as on a full disk.
        if host.isDown, !isRestarting { restart(withMachine: false) }
        let place = random.number(0...Self.pauses.count)
        var rest: Int64 = 1_000_000
        for (index, pause) in Self.pauses.enumerated() {
            if index == place { for event in events { perform(event) } }
            if pause == Self.pauses[0] || burstUntil > now {
                for _ in 0..<(burstUntil > now ? random.number(1...12) : 1) { host.send(0) }
            }
            step(pause)
            rest -= pause
        }
        if place == Self.pauses.count { for event in events { perform(event) } }
        step(rest)
    }

    func run() -> String {
        host.learnTimeOfDay()
        host.start()
        step(1)
        for client in clients { client.start() }
        for second in 0..<seconds {
            var now: [Event] = []
            while let event = events.last, event.second <= second { now.append(events.removeLast().event) }
            self.second(now)
        }
        settle()
        return figures
    }

    /// Everything works again: each client gets all that there is.
    private func settle() {
        log("everything works again")
        host.fillDisk(false)
        for _ in 0..<600 { second([]) }
        check(host.isRunning, "the service does not run again")
        // Nothing is sent any more.
        for _ in 0..<400 { step(50_000) }
        for client in clients {
            for track in client.tracks {
                let last = host.account.samples[track.element].count - 1
                check(
                    track.last == last && track.gap == nil,
                    "\(client.name) has element \(track.element) up to \(track.last ?? -1), and \(last) was sent last")
            }
        }
    }

    private var figures: String {
        let account = host.account
        let all = Event.allCases.map { "\(counts[$0, default: 0]) \($0)" }.joined(separator: ", ")
        return "\(account.samples.reduce(0) { $0 + $1.count }) values, \(account.deliveredCount) delivered, "
            + "\(account.missedCount) missed in \(account.gapCount) gaps (\(account.unknownGapCount) of which nothing is "
            + "known, \(account.repeatedCount) values again), "
            + "\(account.otherStartCount) with times of another start, "
            + "\(account.unknownTimeCount) without; \(account.boots.count) starts of the machine, "
            + "\(host.disk.synchroniseCount) synchronisations, \(host.failureCount) failures of the disk; \(all)"
    }
}
