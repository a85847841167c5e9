import Foundation
import TestSupport
import Testing

/// Fifty devices that send numbers in both directions over both transports, during faults of all kinds in a random order.
///
/// By default twelve faults of one seed. ELEMENTAL_SOAK_SECONDS sets a duration instead, and ELEMENTAL_SOAK_SEED the seed.
@Suite(
    .serialized, .long, .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? "")))
struct SoakTests {
    private static let heartbeat = 1.0
    private static let processes = 5
    private static let devicesEach = 10
    private static let leastFaults = 12

    private enum Fault: CaseIterable {
        case linkDown, linkDownForLong, loss, delay, narrow, serviceStopped, clientStopped, clientKilled, daemonKilled
    }

    private struct Holdings: CustomStringConvertible {
        let kibibytes: Int
        let descriptors: Int

        init(of process: ChildProcess) throws {
            let figures = ProcessFigures(of: process)
            (kibibytes, descriptors) = (try figures.residentMemory, try figures.descriptors)
        }

        var description: String { "\(kibibytes) KiB, \(descriptors) descriptors" }
    }

    private typealias Sample = (service: Holdings, client: Holdings)

    @Test
    func fiftyDevicesThroughRandomFaults() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seconds = environment["ELEMENTAL_SOAK_SECONDS"].flatMap(Double.init) ?? 0
        let seed = environment["ELEMENTAL_SOAK_SEED"].flatMap { UInt64($0) } ?? 1
        print("soak: \(Int(seconds)) s with the seed \(seed)")
        var random = SeededGenerator(seed: seed)
        try await TestBed.with(hasBadLink: true) { bed in
            try await Ledgers.withService(on: bed, heartbeat: Self.heartbeat) { service in
                try await withClients(on: bed) { clients in
                    var clients = clients
                    try await quiet(service, clients)
                    // A device that has received over UDP has its socket.
                    try await Ledgers.expectFlow(service, clients)
                    func holdings() throws -> Sample {
                        (try Holdings(of: service), try Holdings(of: clients[0]))
                    }
                    let first = try holdings()
                    var samples: [Sample] = []
                    var counts: [Fault: Int] = [:]
                    let start = SuspendingClock.now
                    repeat {
                        let fault = try #require(Fault.allCases.randomElement(using: &random))
                        counts[fault, default: 0] += 1
                        try await happen(fault, bed, service, &clients, &random)
                        try await quiet(service, clients)
                        samples.append(try holdings())
                        if samples.count.isMultiple(of: 20) {
                            print("soak: \(samples.count) faults; \(samples[samples.count - 1])")
                        }
                    } while samples.count < Self.leastFaults || SuspendingClock.now - start < .seconds(seconds)

                    // What a break has lost is known once a later number has arrived.
                    try await Ledgers.expectFlow(service, clients)
                    let accounts = try await Ledgers.accounts(of: service, clients: clients)
                    #expect(accounts.count == Self.processes * Self.devicesEach)
                    for account in accounts { account.expectPromises(reorders: true) }
                    expectFlatMemory(samples)
                    // The resources of the search are released shortly after the device is back. Threads that answer over
                    // UDP have a descriptor of their own, once they have first wanted one: the service has one UDP socket,
                    // the client one a device.
                    try await eventually("service and client hold as few descriptors as at first: \(first)") {
                        let now = try holdings()
                        return now.service.descriptors <= first.service.descriptors + 1
                            && now.client.descriptors <= first.client.descriptors + Self.devicesEach
                    }
                    say(counts, accounts, first, try holdings())
                    for client in clients { await client.end() }
                }
            }
        }
    }

    /// Runs the client processes, which the body ends itself where it replaces them.
    private func withClients(on bed: TestBed, _ body: ([ChildProcess]) async throws -> Void) async throws {
        var clients: [ChildProcess] = []
        do {
            for number in 0..<Self.processes { clients.append(try start(on: bed, "c\(number)")) }
            try await body(clients)
        } catch {
            // Those that came later end with the bed's namespaces.
            for client in clients { await client.end() }
            throw error
        }
    }

    private func start(on bed: TestBed, _ prefix: String) throws -> ChildProcess {
        try bed.b.child(
            BuiltProduct.path(of: "ledger"), ["client", "Rover", prefix, "\(Self.devicesEach)", "\(Self.heartbeat)"])
    }

    /// Waits until every device is connected and no earlier connection is left.
    private func quiet(_ service: ChildProcess, _ clients: [ChildProcess]) async throws {
        try await eventually("every device is connected") {
            for client in clients {
                guard try await Ledgers.connected(of: client) == Self.devicesEach else { return false }
            }
            return try await Ledgers.connected(of: service) == Self.processes * Self.devicesEach
        }
    }

    private func happen(
        _ fault: Fault, _ bed: TestBed, _ service: ChildProcess, _ clients: inout [ChildProcess],
        _ random: inout SeededGenerator
    ) async throws {
        /// Waits for a time in the given range of milliseconds, which a process counts that the fault does not stop.
        func last(_ range: ClosedRange<Int>, by process: ChildProcess) async throws {
            try await process.pass(max(1, random.number(range) / 20))
        }
        switch fault {
        case .linkDown, .linkDownForLong:
            let host = Bool.random(using: &random) ? bed.a : bed.b
            try await bed.cutLink(at: host)
            try await last(fault == .linkDown ? 50...1500 : 5000...6000, by: service)
            try await bed.restoreLink()
        case .loss, .delay, .narrow:
            switch fault {
            case .loss: try await bed.impair(loss: Double.random(in: 0.01...0.2, using: &random))
            case .delay: try await bed.impair(delay: Double.random(in: 0.005...0.1, using: &random), hurry: 0.2)
            default: try await bed.impair(rate: Double.random(in: 100_000...1_000_000, using: &random))
            }
            try await last(500...3000, by: service)
            try await bed.impair()
        case .serviceStopped, .clientStopped:
            let client = clients[random.number(0...clients.count - 1)]
            let (process, other) = fault == .serviceStopped ? (service, client) : (client, service)
            process.send(signal: SIGSTOP)
            try await last(50...6000, by: other)
            process.send(signal: SIGCONT)
        case .clientKilled:
            // The first one stays, so that its memory can be monitored.
            let index = random.number(1...clients.count - 1)
            await clients[index].end()
            clients[index] = try start(on: bed, "k\(random.next())")
        case .daemonKilled:
            let host = Bool.random(using: &random) ? bed.a : bed.b
            await host.avahi.kill()
            try await last(50...500, by: service)
            try await host.avahi.start()
        }
    }

    /// Expects that the processes' memory did not grow from the run's second quarter to its last.
    private func expectFlatMemory(_ samples: [Sample]) {
        guard samples.count >= 8, Sanitizer.current == nil else { return }
        let quarter = samples.count / 4
        let (early, late) = (samples[quarter..<2 * quarter], samples.suffix(quarter))
        for (name, part) in [("service", \Sample.service), ("client", \.client)] {
            func median(_ values: [Int]) -> Int { values.sorted()[values.count / 2] }
            let memory =
                median(late.map { $0[keyPath: part].kibibytes }) - median(early.map { $0[keyPath: part].kibibytes })
            #expect(memory < 4096, "the \(name)'s memory grew by \(memory) KiB: \(samples.map { $0[keyPath: part] })")
        }
    }

    private func say(
        _ counts: [Fault: Int], _ accounts: [Account], _ first: Sample, _ last: Sample
    ) {
        print("soak: faults: " + counts.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", "))
        let sent = accounts.reduce(0) { $0 + $1.client.int("upSent") + $1.service.int("downSent") }
        let broken = accounts.reduce(0) { $0 + $1.lostAtBreaks.up + $1.lostAtBreaks.down }
        let datagrams = accounts.reduce((sent: 0, lost: 0)) {
            ($0.sent + $1.datagrams.sent, $0.lost + $1.datagrams.lost)
        }
        let returns = accounts.reduce(0) { $0 + $1.client.int("reconnections") }
        print(
            "soak: \(sent) values over TCP, \(broken) of them under way when a connection broke, \(returns) reconnections;"
                + " \(datagrams.sent) datagrams, \(datagrams.lost) lost")
        print("soak: at first \(first), at the end \(last)")
    }
}
