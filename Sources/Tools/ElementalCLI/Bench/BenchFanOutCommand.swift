import ArgumentParser
import Elemental
import ElementalBench

struct BenchFanOutCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "fanout",
        abstract: "Measure how many values a second a service delivers to many devices.",
        discussion: """
            TARGET is a service started with `elemental bench serve`. This process connects that many devices to it and \
            asks it to send numbered values to all of them, as fast as the slowest accepts them. Counting begins after a \
            warm-up of 0.3 s; every value that a device receives is checked.

              $ elemental bench fanout
              $ elemental bench fanout --devices 250 --seconds 5
              $ elemental bench fanout 192.168.1.7:5000 --devices 100 --json
            """)

    @Option(help: "The number of devices to connect.")
    var devices = 10

    @Option(help: ArgumentHelp("How long to count deliveries.", valueName: "s"))
    var seconds = 2.0

    @Option(help: "The size of a value in bytes.")
    var size = BenchElements.minimumByteCount

    @OptionGroup var bench: BenchOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try BenchOptions.check(devices: devices)
        try BenchOptions.check(seconds: seconds)
        try BenchOptions.check(size: size, atMost: BenchElements.maximumByteCount)
    }

    func perform(_ console: Console) async throws {
        var run = FanOutRun()
        run.deviceCount = devices
        run.duration = .seconds(seconds)
        run.size = size
        run.timeout = output.limit
        try await bench.measure(console, output) { [run] device, connect in
            try await run.run(device, connect: connect)
        }
    }
}
