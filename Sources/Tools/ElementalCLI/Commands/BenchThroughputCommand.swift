import ArgumentParser
import Elemental
import ElementalBench

/// Measures how much arrives.
struct BenchThroughputCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "throughput",
        abstract: "Measure messages and bytes a second, loss and processor time.",
        discussion: """
            TARGET is a service started with `elemental bench serve`. Messages are numbered; what arrives is counted at \
            the other end. Counting begins after 0.3 s of the same. The sender waits while its queue is full; over UDP \
            without --rate it sends faster than most receivers read, and the loss says by how much. Messages of 8 bytes \
            are sent as an element of type uint64, longer ones as data. The processor time is that of all of each \
            process while it sent or received.

              $ elemental bench throughput --size 8
              $ elemental bench throughput --size 65536 --seconds 10
              $ elemental bench throughput --transport udp --rate 50000 --count 100000
              $ elemental bench throughput 192.168.1.7:5000 --json
            """)

    @Option(help: "How many messages are sent, instead of as many as go in --seconds.")
    var count: Int?

    @Option(help: ArgumentHelp("How long messages are sent (default: 2).", valueName: "s"))
    var seconds: Double?

    @OptionGroup var bench: BenchOptions
    @OptionGroup var messages: BenchMessageOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try BenchOptions.check(count: count)
        try BenchOptions.check(seconds: seconds)
        if count != nil, seconds != nil { throw ValidationError("give --count or --seconds, not both") }
        let sizes = BenchElements.minimumByteCount...messages.maximumSize
        if let size = messages.size, !sizes.contains(size) {
            throw ValidationError(
                "--size takes \(sizes.lowerBound) to \(sizes.upperBound) bytes over \(messages.transport), not \(size)")
        }
    }

    func perform(_ console: Console) async throws {
        var run = ThroughputRun()
        run.transport = messages.transport
        run.amount = count.map { .count($0) } ?? seconds.map { .time(.seconds($0)) } ?? run.amount
        run.size = messages.size ?? run.size
        run.rate = messages.pace
        run.timeout = output.limit
        try await bench.measure(console, output) { [run] device, _ in .throughput(try await run.run(device)) }
    }
}
