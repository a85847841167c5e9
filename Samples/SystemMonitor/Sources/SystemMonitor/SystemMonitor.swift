import ArgumentParser
import Elemental
import Logging
import MachineReadings
import SampleSecurity
import ServiceLifecycle

@main
struct SystemMonitor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "SystemMonitor",
        abstract: "Publishes this machine's readings as the service 'system_monitor'.",
        discussion: """
            Load averages, memory, uptime, network bytes and CPU load come from /proc, the CPU temperature from \
            /sys/class/thermal where there is a sensor. Clients may set the element 'Sampling interval'. Ends with \
            Ctrl-C or SIGTERM.
            """)

    @Option(help: "The name that people see. (default: the host's name)")
    var name: String?

    @Option(help: "The TCP and UDP port; 0 lets the system choose.")
    var port = 0

    @Option(help: "The local address to listen on, such as 127.0.0.1. (default: all)")
    var address: String?

    @Option(help: "Seconds from one sample to the next, 0.05 to 60.")
    var interval = 1.0

    @OptionGroup var security: ServingOptions

    @Flag(help: "Log what the framework does, on standard error.")
    var verbose = false

    func validate() throws {
        guard Monitor.interval.allows(interval) else {
            throw ValidationError("--interval takes 0.05 to 60 seconds, not \(interval)")
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
    }

    func run() async throws {
        var machine = Machine()
        // The first sample is not sent: it checks that the readings work, and is the base of the rates.
        _ = try machine.sample()

        var logger = Logger(label: "SystemMonitor", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = verbose ? .debug : .error
        var configuration = ServiceConfiguration()
        configuration.port = port
        configuration.address = address
        configuration.logger = logger
        let pairing = try security.apply(to: &configuration)
        let service = ElementalService(
            Monitor.service, displayName: name,
            elements: try Monitor.elements(hasTemperature: machine.thermalZone != nil), configuration: configuration)
        let ticker = Ticker()
        service.onEvent { event in
            if let line = Self.describe(event) { Console.print(line) }
        }
        pairing.prepare(service, say: Console.print)
        service.onValue(of: Monitor.interval) { seconds, device in
            Console.print("sampling interval: \(seconds) s, set by \(device)")
            ticker.start(every: .seconds(seconds))
        }
        // All clients get what one of them sets.
        service.relay(Monitor.interval)
        try service.send(interval, to: Monitor.interval)
        ticker.start(every: .seconds(interval))
        if let zone = machine.thermalZone {
            Console.print("CPU temperature: \(zone.path) (\(zone.type))")
        } else {
            Console.print("CPU temperature: this machine has no sensor of it in /sys/class/thermal, so it is left out")
        }

        let sampler = Sampler(service: service, machine: machine, ticker: ticker)
        let group = ServiceGroup(
            services: [service, sampler], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }

    /// The line to print for an event, or `nil`.
    private static func describe(_ event: ServiceEvent) -> String? {
        switch event {
        case .listening(let port): "listening: port \(port)"
        case .published(let name): "published: '\(name)' as \(Monitor.service)"
        case .failedToPublish(let error, let delay): "not published: \(error); next attempt in \(delay)"
        case .deviceConnected(let device): "connected: \(device)"
        case .deviceDisconnected(let device, let reason): "disconnected: \(device), \(reason)"
        case .pairing: nil
        case .stopped: "stopped"
        }
    }
}
