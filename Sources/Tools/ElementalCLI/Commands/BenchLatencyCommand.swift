import ArgumentParser
import Elemental
import ElementalBench

extension Via: ExpressibleByArgument {}
extension Load: ExpressibleByArgument {}

/// Measures round trips.
struct BenchLatencyCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measure round trips: percentiles and a histogram.",
        discussion: """
            With a TARGET started by `elemental bench serve`, messages go through the programming interface: by handlers, \
            which answer on the event loop, or by async streams, whose messages a task answers on the event loop \
            (streams) or on Swift's thread pool (task-streams). Any other service of this framework is measured by \
            pings. Without --rate one round trip follows the other. With --rate each \
            begins when it is due and its time counts from then, so that a stall shows in all the round trips that it \
            delayed. A message that is not answered within --timeout is lost. Up to 1000 round trips before the first \
            that counts warm up both ends. Beside a load give a --rate too: round trips that follow each other pile up \
            where the load pauses.

              $ elemental bench latency
              $ elemental bench latency --via streams
              $ elemental bench latency --beside large --rate 1000
              $ elemental bench latency --transport udp --rate 1000 --count 30000
              $ elemental bench latency robot --json
            """)

    @Option(help: "How many round trips are made (default: 10000).")
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "How messages are sent and received: handlers, streams, task-streams or ping "
                + "(default: handlers with a bench service, ping with any other)."))
    var via: Via?

    @Option(
        help: ArgumentHelp(
            "What else goes over the network meanwhile: large, values of 1 MiB on the same connection as fast as it "
                + "takes them, or motion, 120 vectors a second over UDP from each of 100 other connections."))
    var beside: Load?

    @OptionGroup var bench: BenchOptions
    @OptionGroup var messages: BenchMessageOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try BenchOptions.check(count: count)
        let sizes = BenchElements.minimumByteCount...(via == .ping ? 1024 : messages.maximumSize)
        if let size = messages.size, !sizes.contains(size) {
            throw ValidationError(
                "--size takes \(sizes.lowerBound) to \(sizes.upperBound) bytes for a round trip, not \(size)")
        }
    }

    func perform(_ console: Console) async throws {
        var run = LatencyRun()
        run.transport = messages.transport
        run.via = via
        run.count = count ?? run.count
        run.size = messages.size ?? run.size
        run.rate = messages.pace
        run.load = beside
        run.timeout = output.limit
        try await bench.measure(console, output) { [run] device, connect in
            .latency(try await run.run(device, connect: connect))
        }
    }
}
