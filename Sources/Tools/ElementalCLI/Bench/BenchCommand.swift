import ArgumentParser
import Elemental

struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure latency, throughput and fan-out, on one machine or between two.",
        discussion: """
            Without TARGET the peer is a second process on the loopback interface, which ends afterwards. To \
            measure between two machines, start `elemental bench serve` on the other one.

              $ elemental bench latency
              $ elemental bench latency robot --rate 1000 --count 60000
              $ elemental bench throughput --transport udp --rate 100000 --size 100
              $ elemental bench fanout --devices 250
              $ elemental bench serve --name Pi
              $ elemental bench throughput elemental_bench/Pi
            """,
        subcommands: [
            BenchLatencyCommand.self, BenchThroughputCommand.self, BenchFanOutCommand.self, BenchServeCommand.self,
        ])
}
