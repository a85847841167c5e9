import ArgumentParser
import ElementalBench

/// Measures round trips.
struct BenchLatencyCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measure round trips: percentiles and a histogram.",
        discussion: """
            TARGET is any service that answers pings, as all of this framework's do. Without --rate one round trip \
            follows the other. With --rate each begins when it is due and its time counts from then, so that a stall \
            shows in all the round trips that it delayed.

              $ elemental bench latency
              $ elemental bench latency --transport udp --rate 1000 --count 30000
              $ elemental bench latency robot --json
            """)

    @Option(help: "How many round trips are made (default: 10000).")
    var count: Int?

    @OptionGroup var bench: BenchOptions
    @OptionGroup var messages: BenchMessageOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try BenchOptions.check(count: count)
        if let size = messages.size, !(8...1024).contains(size) {
            throw ValidationError("--size takes 8 to 1024 bytes for a round trip, not \(size)")
        }
    }

    func perform(_ console: Console) async throws {
        var run = LatencyRun()
        run.transport = messages.transport
        run.count = count ?? run.count
        run.size = messages.size ?? run.size
        run.rate = messages.pace
        run.timeout = output.limit
        try await bench.measure(console, output) { [run] device in .latency(try await run.run(device)) }
    }
}
