import ArgumentParser
import Elemental
import ElementalBench

/// Measures how much arrives.
struct BenchThroughputCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "throughput",
        abstract: "Measure messages and bytes a second, and loss.",
        discussion: """
            TARGET is a service started with `elemental bench serve`. Messages are numbered; what arrives is counted at \
            the other end. The sender waits while its queue is full; over UDP without --rate it sends faster than most \
            receivers read, and the loss says by how much.

              $ elemental bench throughput --count 1000000 --size 64
              $ elemental bench throughput --transport udp --rate 50000
              $ elemental bench throughput 192.168.1.7:5000 --json
            """)

    @OptionGroup var bench: BenchOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        let most = bench.transport == .udp ? Envelope.maximumDatagramValueByteCount : 16_000_000
        if let size = bench.size, !(BenchElements.minimumByteCount...most).contains(size) {
            throw ValidationError(
                "--size takes \(BenchElements.minimumByteCount) to \(most) bytes over \(bench.transport), not \(size)")
        }
    }

    func perform(_ console: Console) async throws {
        var run = ThroughputRun()
        run.transport = bench.transport
        run.count = bench.count ?? run.count
        run.size = bench.size ?? run.size
        run.rate = bench.pace
        run.timeout = output.limit
        try await bench.measure(console, output) { [run] device in .throughput(try await run.run(device)) }
    }
}
