import ArgumentParser
import Elemental
import ElementalBench

/// Serves the other end of measurements.
struct BenchServeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the other end of measurements until Ctrl-C.",
        discussion: """
            It is published as \(BenchElements.service), answers pings, sends back what is sent to its echoes, \
            counts what arrives and sends to many at once.

              $ elemental bench serve
              $ elemental bench serve --port 5000 --name Pi
            """)

    @Option(help: "The port, TCP and UDP; 0 lets the system choose.")
    var port = 0

    @Option(help: "The instance's name that people see (default: the host's name).")
    var name: String?

    // The responder of a measurement: on loopback, not published, and over when its standard input ends.
    @Flag(help: .hidden)
    var responder = false

    @OptionGroup var limits: LimitOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        try Publishing.check(service: BenchElements.service, name: name)
    }

    func perform(_ console: Console) async throws {
        var configuration = ServiceConfiguration()
        configuration.port = port
        configuration.address = responder ? "127.0.0.1" : nil
        configuration.isPublished = !responder
        configuration.maximumDeviceCount = 10_000
        configuration.maximumDeviceCountPerAddress = 10_000
        configuration.limits = limits.device
        configuration.limits.handshakeTimeout = output.limit
        configuration.logger = output.logger
        let service = BenchService.make(displayName: name, configuration: configuration)
        let isResponder = responder
        try await ServiceHost(service, console, passesValuesOn: false, showsValues: false).run {
            guard isResponder else { return try await Interruption.forever() }
            let input = InputLines(limit: InputLines.longestCommand)
            while await input.next() != nil {}
        }
    }
}
