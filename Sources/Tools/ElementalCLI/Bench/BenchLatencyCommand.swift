import ArgumentParser
import Elemental
import ElementalBench

extension Via: ExpressibleByArgument {}
extension Load: ExpressibleByArgument {}
extension Pace: ExpressibleByArgument {}

struct BenchLatencyCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measure round trips: percentiles and a histogram.",
        discussion: """
            With a TARGET started by `elemental bench serve`, messages go through the public API: with handlers, \
            which answer on the event loop, or with async streams, whose messages a task answers on the event loop \
            (streams) or on Swift's thread pool (task-streams). Any other service of this framework is measured with \
            pings. Without --rate each round trip begins when the previous one ends. With --rate each begins when it is \
            due and is timed from then, so that a stall shows in all the round trips that it delays. A message that is \
            not answered within --timeout counts as lost. Up to 1000 round trips warm up both ends first. Give --rate \
            with --beside: round trips without a rate cluster in the pauses of the load. With --lowest the event \
            loops do not sleep while messages flow, and the client's loop itself sends at the --rate, like a control loop. \
            With --pace the sender sleeps in between, as in most programs, and each round trip is timed from its sending.

              $ elemental bench latency
              $ elemental bench latency --via streams
              $ elemental bench latency --beside large --rate 1000
              $ elemental bench latency --transport udp --rate 1000 --count 30000
              $ elemental bench latency --lowest --rate 1000
              $ elemental bench latency --rate 1000 --pace task
              $ elemental bench latency robot --json
            """)

    @Option(name: [.customShort("n"), .long], help: "The number of round trips (default: 10000).")
    var count: Int?

    @Option(
        help: ArgumentHelp(
            "How to send and receive messages: handlers, streams, task-streams or ping "
                + "(default: handlers with a bench service, ping with any other)."))
    var via: Via?

    @Option(
        help: ArgumentHelp(
            "The load beside the round trips: large (values of 1 MiB on the same connection, as fast as it accepts "
                + "them) or motion (120 vectors a second over UDP from each of the --devices)."))
    var beside: Load?

    @Option(help: "How many other devices send their motion, with --beside motion (default: 100).")
    var devices: Int?

    @Option(
        help: ArgumentHelp(
            "The sender at the --rate, which sleeps in between: timer (the client's event loop), thread or task "
                + "(default: a thread that polls the clock)."))
    var pace: Pace?

    @Flag(
        help: ArgumentHelp(
            "Do not sleep while messages flow, which takes a core at either end.",
            discussion: "With a TARGET, give it there, too: elemental bench serve --lowest."))
    var lowest = false

    @OptionGroup var bench: BenchOptions
    @OptionGroup var messages: BenchMessageOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try BenchOptions.check(count: count)
        try BenchOptions.check(devices: devices)
        guard devices == nil || beside == .motion else { throw ValidationError("--devices needs --beside motion") }
        if let pace {
            guard messages.perSecond != nil else { throw ValidationError("--pace \(pace.rawValue) needs a --rate") }
            guard via != .ping else { throw ValidationError("--pace does not work with --via ping; leave one out") }
        }
        try BenchOptions.check(
            size: messages.size, atMost: via == .ping ? 1024 : messages.maximumSize, " for a round trip")
    }

    func perform(_ console: Console) async throws {
        var run = LatencyRun()
        run.transport = messages.transport
        run.via = via
        run.count = count ?? run.count
        run.size = messages.size ?? run.size
        run.rate = messages.perSecond
        run.load = beside
        run.motionDeviceCount = devices ?? run.motionDeviceCount
        run.pace = pace
        run.isPacedByLoop = lowest
        run.timeout = output.limit
        try await bench.measure(console, output, latency: lowest ? .lowest : .standard) { [run] device, connect in
            try await run.run(device, connect: connect)
        }
    }
}
