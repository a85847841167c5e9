import ArgumentParser
import Elemental
import ElementalBench
import ElementalFollowing
import ElementalWire

extension Transport: ExpressibleByArgument {}

/// The options of all measurements, and the connection that they measure.
struct BenchOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT (default: a responder of its own)."),
        transform: Target.init(parsing:))
    var target: Target?

    @Option(help: ArgumentHelp("The name of this client (default: elemental@HOST).", valueName: "name"))
    var name: String?

    @OptionGroup var security: ClientSecurityOptions

    func validate() throws {
        try ClientName.check(name)
    }

    static func check(count: Int?) throws {
        guard let count, !(1...1_000_000_000).contains(count) else { return }
        throw ValidationError("--count takes 1 to 1000000000, not \(count)")
    }

    /// Checks `--size`.
    ///
    /// - Parameters:
    ///   - maximum: the maximum number of bytes.
    ///   - purpose: what the bytes are for, for the error message.
    static func check(size: Int?, atMost maximum: Int, _ purpose: String = "") throws {
        let sizes = BenchElements.minimumByteCount...maximum
        guard let size, !sizes.contains(size) else { return }
        throw ValidationError("--size takes \(sizes.lowerBound) to \(sizes.upperBound) bytes\(purpose), not \(size)")
    }

    static func check(devices: Int?) throws {
        guard let devices, !(1...10_000).contains(devices) else { return }
        throw ValidationError("--devices takes 1 to 10000, not \(devices)")
    }

    static func check(seconds: Double?) throws {
        guard let seconds, !(0.001...86400).contains(seconds) else { return }
        throw ValidationError("--seconds takes 0.001 to 86400, not \(seconds)")
    }

    /// Connects to the target, or to a responder that is ended afterwards, measures and writes the report.
    ///
    /// - Parameters:
    ///   - latency: the latency mode of the client's event loop, and of the responder's if one is started.
    ///   - run: measures with the device, and may make further connections.
    func measure<Report: ConsoleEvent>(
        _ console: Console, _ output: OutputOptions, latency: Latency = .standard,
        _ run: @escaping @Sendable (ElementalDevice, @escaping ConnectAnother) async throws -> Report
    ) async throws {
        try await Interruption.run(console, .task) {
            if let target {
                let access = try await security.load()
                let place = try await ServicePlace.find(target.followingAlias(for: access), for: access, output)
                return try await measure(place, access, latency, console, output, run)
            }
            let responder = try await ResponderProcess.start(
                security.responderOptions + (latency == .standard ? [] : ["--lowest"]))
            try await withCleanup {
                // The responder is none of the paired services, whatever its port. With a policy, it has created the
                // user's identity if there was none.
                let access = security.policy == nil ? ClientAccess(security: .open) : try await security.load()
                let place = ServicePlace.address(host: "127.0.0.1", port: responder.port)
                try await measure(place, access, latency, console, output, run)
            } cleanup: {
                await responder.end()
            }
        }
    }

    private func measure<Report: ConsoleEvent>(
        _ place: ServicePlace, _ access: ClientAccess, _ latency: Latency, _ console: Console, _ output: OutputOptions,
        _ run: (ElementalDevice, @escaping ConnectAnother) async throws -> Report
    ) async throws {
        FileDescriptors.allowMany()
        let name = name ?? ClientName.standard
        let connect: ConnectAnother = { number, allowsUDP async throws(ElementalError) in
            var options = ConnectOptions(
                timeout: output.limit, allowsUDP: allowsUDP, security: access.security, logger: output.logger)
            options.expectsHello = true
            return try await place.connect(as: "\(name) \(number)", elements: BenchElements.all, options: options)
        }
        var settings = Client.Settings(name: name)
        settings.advice = { _ in
            "the target sends no catalogue that can be used; measurements need a service started with 'elemental bench serve'"
        }
        settings.access = access
        settings.latency = latency
        try await Client.with(place, settings, output, console) { client in
            await console.emit(try await run(client.device, connect))
        }
    }
}

extension ClientSecurityOptions {
    /// The options that make the responder as secure as its client requires.
    fileprivate var responderOptions: [String] {
        guard let policy else { return [] }
        return ["--security", policy.rawValue] + (state.state.map { ["--state", $0] } ?? [])
    }
}

/// The options of the measurements that send messages over a transport.
struct BenchMessageOptions: ParsableArguments {
    @Option(help: "How messages are sent: tcp or udp.")
    var transport = Transport.tcp

    @Option(help: ArgumentHelp("Messages a second; 0 for as many as possible.", valueName: "hz"))
    var rate = 0.0

    @Option(help: "The bytes of a message's value (default: 8 for round trips, 64 for throughput).")
    var size: Int?

    func validate() throws {
        guard rate == 0 || (0.001...1_000_000).contains(rate) else {
            throw ValidationError("--rate takes 0.001 to 1000000 messages a second, or 0 for as many as possible")
        }
    }

    /// Messages a second, or `nil` for as many as possible.
    var perSecond: Double? { rate == 0 ? nil : rate }

    /// The maximum number of bytes of a value that is sent to a bench service.
    var maximumSize: Int { transport == .udp ? Envelope.maximumDatagramValueByteCount : BenchElements.maximumByteCount }
}
