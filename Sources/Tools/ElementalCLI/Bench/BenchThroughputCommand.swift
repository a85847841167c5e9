import ArgumentParser
import Elemental
import ElementalBench

struct BenchThroughputCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "throughput",
        abstract: "Measure messages and bytes a second, loss and processor time.",
        discussion: """
            TARGET is a service started with `elemental bench serve`. Messages are numbered, and the service counts \
            what arrives. Counting begins after a warm-up of 0.3 s. The sender waits while its queue is full; over UDP \
            without --rate it sends faster than most receivers read, and the loss shows by how much. Messages of 8 bytes \
            are sent as an element of type uint64, longer ones as data. The processor time is that of each whole process \
            while it sent or received. With --on-loop the sender runs on the connection's event loop, like a handler, which \
            saves waking threads and does not use a second core.

              $ elemental bench throughput --size 8
              $ elemental bench throughput --size 65536 --seconds 10
              $ elemental bench throughput --on-loop
              $ elemental bench throughput --transport udp --rate 50000 --count 100000
              $ elemental bench throughput 192.168.1.7:5000 --json
            """)

    @Option(
        name: [.customShort("n"), .long],
        help: "The number of messages to send, instead of as many as --seconds allows.")
    var count: Int?

    @Option(help: ArgumentHelp("How long to send messages (default: 2).", valueName: "s"))
    var seconds: Double?

    @Flag(help: "Send from the connection's event loop rather than from a thread of the pool.")
    var onLoop = false

    @OptionGroup var bench: BenchOptions
    @OptionGroup var messages: BenchMessageOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try BenchOptions.check(count: count)
        try BenchOptions.check(seconds: seconds)
        if count != nil, seconds != nil { throw ValidationError("give --count or --seconds, not both") }
        try BenchOptions.check(size: messages.size, atMost: messages.maximumSize, " over \(messages.transport)")
    }

    func perform(_ console: Console) async throws {
        var run = ThroughputRun()
        run.transport = messages.transport
        run.amount = count.map { .count($0) } ?? seconds.map { .time(.seconds($0)) } ?? run.amount
        run.size = messages.size ?? run.size
        run.rate = messages.perSecond
        run.isOnLoop = onLoop
        run.timeout = output.limit
        try await bench.measure(console, output) { [run] device, _ in try await run.run(device) }
    }
}
