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
            /sys/class/thermal where there is a sensor. Thermometers on 1-Wire, and sensors for which Linux has a \
            driver (hwmon and iio, on I²C as well), are found; what is absent is left out, and told at the start. \
            Other devices on I²C and lines of GPIO are used where you name them, and nothing else on these buses is \
            touched. Clients may set the element 'Sampling interval' and the outputs. Ends with Ctrl-C or SIGTERM.
            """)

    @Option(help: "The name that people see. (default: the host's name)")
    var name: String?

    @Option(help: "The TCP and UDP port; 0 lets the system choose.")
    var port = 0

    @Option(help: "The local address to listen on, such as 127.0.0.1. (default: all)")
    var address: String?

    @Option(help: "Seconds from one sample to the next, 0.05 to 60.")
    var interval = 1.0

    @Option(
        help: ArgumentHelp(
            "A sensor on I²C, such as tmp102=i2c-1/0x48; can be repeated.", valueName: "model=bus/address"))
    var i2c: [String] = []

    @Option(
        help: ArgumentHelp(
            "A GPIO line to read, such as Door=gpiochip0/17; can be repeated.", valueName: "name=chip/line"))
    var input: [String] = []

    @Option(
        help: ArgumentHelp(
            "A GPIO line that clients set, off at first, such as Pump=gpiochip0/27; can be repeated.",
            valueName: "name=chip/line"))
    var output: [String] = []

    @Option(help: ArgumentHelp("Where the kernel's sensors are, to try without any.", valueName: "directory"))
    var sys = "/sys"

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
        var machine = Machine(thermal: "\(sys)/class/thermal")
        // The first sample is not sent: it checks that the readings work, and is the base of the rates.
        _ = try machine.sample()

        let buses = try Buses(sys: sys, i2c: i2c, inputs: input, outputs: output)

        var logger = Logger(label: "SystemMonitor", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = verbose ? .debug : .error
        var configuration = ServiceConfiguration(port: port, address: address, logger: logger)
        let pairing = try security.apply(to: &configuration)
        let service = ElementalService(
            Monitor.service, displayName: name,
            elements: try Monitor.elements(hasTemperature: machine.thermalZone != nil, buses: buses),
            configuration: configuration)
        let ticker = Ticker()
        let sensorTicker = Ticker()
        service.onEvent { event in
            if let line = Self.describe(event) { Console.print(line) }
        }
        pairing.prepare(service, say: Console.print)
        service.onValue(of: Monitor.interval) { seconds, device in
            Console.print("sampling interval: \(seconds) s, set by \(device)")
            for ticker in [ticker, sensorTicker] { ticker.start(every: .seconds(seconds)) }
        }
        // All clients get what one of them sets.
        service.relay(Monitor.interval)
        try service.send(interval, to: Monitor.interval)
        for ticker in [ticker, sensorTicker] { ticker.start(every: .seconds(interval)) }
        for line in buses.lines { try line.serve(by: service) }
        for note in buses.notes { Console.print(note) }
        if let zone = machine.thermalZone {
            Console.print("CPU temperature: \(zone.path) (\(zone.type))")
        } else {
            Console.print("CPU temperature: this machine has no sensor of it in /sys/class/thermal, so it is left out")
        }

        let sampler = Sampler(service: service, machine: machine, ticker: ticker)
        let sensors = SensorLoop(service: service, buses: buses, ticker: sensorTicker)
        let group = ServiceGroup(
            services: [service, sampler, sensors], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
    }

    /// The line to print for an event, or `nil`.
    private static func describe(_ event: ServiceEvent) -> String? {
        switch event {
        case .listening(let port): "listening: port \(port)"
        case .failedToListen(let error, let delay): "not listening: \(error); retrying in \(delay)"
        case .historyUnavailable(let error): "values are not written to files: \(error)"
        case .historyAvailable: "values are written to files again"
        case .published(let name): "published: '\(name)' as \(Monitor.service)"
        case .failedToPublish(let error, let delay): "not published: \(error); retrying in \(delay)"
        case .deviceConnected(let device): "connected: \(device)"
        case .deviceDisconnected(let device, let reason): "disconnected: \(device), \(reason)"
        case .trustUnavailable(let error): "trusts no clients: \(error)"
        case .failed(let error): "failed: \(error)"
        case .pairing, .trustAvailable: nil
        case .stopped: "stopped"
        }
    }
}
