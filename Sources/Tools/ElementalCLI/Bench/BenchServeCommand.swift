import ArgumentParser
import Elemental
import ElementalBench

struct BenchServeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve as the peer of measurements until Ctrl-C.",
        discussion: """
            The service is published as \(BenchElements.service). It answers pings, echoes messages, counts what arrives \
            and sends to many devices at once.

              $ elemental bench serve
              $ elemental bench serve --port 5000 --name Pi
            """)

    @OptionGroup var hosting: ServiceOptions
    @OptionGroup var admission: ServiceSecurityOptions

    @Flag(help: "Do not sleep while messages flow, which takes a core.")
    var lowest = false

    // The responder of a measurement: it listens on loopback only, is not published, and ends with its standard input.
    @Flag(help: .hidden)
    var responder = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        try hosting.check(service: BenchElements.service)
    }

    func perform(_ console: Console) async throws {
        var configuration = ServiceConfiguration()
        hosting.apply(to: &configuration, output)
        configuration.address = responder ? "127.0.0.1" : nil
        configuration.isPublished = !responder
        configuration.latency = lowest ? .lowest : .standard
        configuration.maximumDeviceCount = 10_000
        configuration.maximumDeviceCountPerAddress = 10_000
        let security = try await admission.prepare(
            BenchElements.service, listeningOn: configuration.address, isQuiet: responder, console)
        configuration.security = security.configuration
        let service = BenchService.make(displayName: hosting.name, configuration: configuration)
        let isResponder = responder
        try await ServiceHost(service, security, console, relaysValues: false, showsValues: false).run {
            guard isResponder else { return try await Interruption.forever() }
            let input = InputLines(limit: InputLines.longestCommand)
            while await input.next() != nil {}
        }
    }
}
