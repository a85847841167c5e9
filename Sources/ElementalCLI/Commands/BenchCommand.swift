import ArgumentParser
import Elemental

/// Measures connections.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure latency and throughput, on one machine or between two.",
        discussion: """
            Without TARGET a responder is started as a second process on the loopback interface and ended afterwards. \
            Between two machines, start `elemental bench serve` on the other one.

              $ elemental bench latency
              $ elemental bench latency robot --rate 1000 --count 60000
              $ elemental bench throughput --transport udp --rate 100000 --size 100
              $ elemental bench serve --name Pi
              $ elemental bench throughput elemental_bench/Pi
            """,
        subcommands: [BenchLatencyCommand.self, BenchThroughputCommand.self, BenchServeCommand.self])
}

extension Transport: ExpressibleByArgument {}

/// What both measurements take.
struct BenchOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT (default: a responder of its own)."),
        transform: Target.init(parsing:))
    var target: Target?

    @Option(help: "The way that the messages travel, tcp or udp.")
    var transport = Transport.tcp

    @Option(help: "How many messages are sent (default: 10000 round trips, 200000 for throughput).")
    var count: Int?

    @Option(help: ArgumentHelp("Messages a second; 0 for as many as possible.", valueName: "hz"))
    var rate = 0.0

    @Option(help: "The bytes of a message's value (default: 8 for round trips, 64 for throughput).")
    var size: Int?

    @Option(help: ArgumentHelp("What this client calls itself (default: elemental@HOST).", valueName: "name"))
    var name: String?

    func validate() throws {
        if let count, !(1...1_000_000_000).contains(count) {
            throw ValidationError("--count takes 1 to 1000000000, not \(count)")
        }
        guard rate == 0 || (0.001...1_000_000).contains(rate) else {
            throw ValidationError("--rate takes 0.001 to 1000000 messages a second, or 0 for as many as possible")
        }
        if name?.isEmpty == true { throw ValidationError("--name takes a name that is not empty") }
    }

    /// Messages a second, or `nil` for as many as possible.
    var pace: Double? { rate == 0 ? nil : rate }

    /// Connects to the target, or to a responder that lasts as long as `body`.
    func measure(
        _ console: Console, _ output: OutputOptions, _ body: (ElementalDevice) async throws -> Event
    ) async throws {
        if let target { return try await measure(target, console, output, body) }
        let responder = try ResponderProcess.start()
        defer { responder.end() }
        try await measure(.address(host: "127.0.0.1", port: responder.port), console, output, body)
    }

    private func measure(
        _ target: Target, _ console: Console, _ output: OutputOptions, _ body: (ElementalDevice) async throws -> Event
    ) async throws {
        let client = try await Client.open(
            target, as: name ?? ClientOptions.defaultName, output, elements: nil)
        do {
            console.emit(try await body(client.device))
        } catch {
            await client.device.close()
            throw error
        }
        await client.device.close()
    }
}
