import Foundation

/// One run of a contender: starts its server, runs its measuring client, ends both.
struct Encounter {
    var programs: Programs
    var contender: Contender
    var transport: Transport
    var placement = Placement.free
    /// Counts the allocations of both ends.
    var countsAllocations = false

    struct Outcome {
        var report: Report
        /// Allocations of each process from its start to its end, if they were counted.
        var clientAllocations: Double?
        var serverAllocations: Double?
    }

    func roundTrips(_ count: Int) throws -> Outcome {
        try run(.echo, field: "p50", patience: 30 + Double(count) / 200) { port in
            try contender.latency(programs, transport, port: port, count: count)
        }
    }

    /// Round trips at a rate.
    ///
    /// - Parameters:
    ///   - pace: what sends; `nil` for what watches the clock.
    ///   - beside: another program, which runs meanwhile; given the server's port.
    func roundTrips(
        _ count: Int, rate: Int, pace: Pace? = nil, beside: (Int) throws -> Command? = { _ in nil }
    ) throws -> Report {
        try run(.echo, field: "p50", patience: 30 + Double(count) / Double(rate), beside: beside) { port in
            try contender.latency(programs, transport, port: port, count: count, rate: rate, pace: pace)
        }.report
    }

    func throughput(size: Int, seconds: Double) throws -> Outcome {
        try run(.sink, field: "messages", patience: 30 + seconds) { port in
            try contender.throughput(programs, transport, port: port, size: size, seconds: seconds)
        }
    }

    /// Runs a measurement that only the framework's command line supports.
    static func bench(
        _ programs: Programs, _ subcommand: String, _ arguments: [String], placement: Placement = .free,
        field: String, patience: Double
    ) throws -> Report {
        let encounter = Encounter(
            programs: programs, contender: Contender.elemental, transport: .tcp, placement: placement)
        return try encounter.run(.sink, field: field, patience: patience) { port in
            Command(programs.elemental, ["bench", subcommand, "127.0.0.1:\(port)", "--json"] + arguments)
        }.report
    }

    private func run(
        _ role: Role, field: String, patience: Double, beside: (Int) throws -> Command? = { _ in nil },
        client makeClient: (Int) throws -> Command
    ) throws -> Outcome {
        let broker = contender.needsBroker ? try Broker(core: placement.server) : nil
        let counter = countsAllocations ? try AllocationFiles(library: programs.allocationCounter) : nil
        func started(_ command: Command, core: Int?) throws -> Child {
            try Child((counter?.counting(command) ?? command).on(core: core))
        }
        return try withExtendedLifetime(broker) {
            let server = try started(
                try contender.server(programs, role, transport, port: broker?.port ?? 0), core: placement.server)
            defer { server.end() }
            let port = Int(try server.report(having: "port", within: 10).number("port"))
            let other = try beside(port).map { try Child($0) }
            defer { other?.terminate() }
            let client = try started(try makeClient(port), core: placement.client)
            defer { client.end() }
            let report: Report
            do {
                report = try client.report(having: field, within: patience)
            } catch {
                throw CompareError(["\(error)", server.complaint()].compactMap { $0 }.joined(separator: "; "))
            }
            client.end()
            server.end()
            return Outcome(
                report: report, clientAllocations: try counter?.allocations(of: client),
                serverAllocations: try counter?.allocations(of: server))
        }
    }
}

/// The files to which processes write their allocation counts.
private final class AllocationFiles {
    private let folder: URL
    private let library: String

    init(library: String) throws {
        self.library = library
        folder = try TemporaryFolder.make()
    }

    func counting(_ command: Command) -> Command {
        var command = command
        command.environment["LD_PRELOAD"] = library
        command.environment["ALLOCATIONS_FILE"] = folder.appendingPathComponent("count").path
        return command
    }

    func allocations(of child: Child) throws -> Double {
        let file = folder.appendingPathComponent("count.\(child.pid)")
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let count = Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw CompareError("\(child.command.line) left no count of its allocations") }
        return count
    }
}
