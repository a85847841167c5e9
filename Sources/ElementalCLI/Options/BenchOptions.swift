import ArgumentParser
import Elemental
import ElementalBench

extension Transport: ExpressibleByArgument {}

/// What all measurements take, and the connection that they measure.
struct BenchOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT (default: a responder of its own)."),
        transform: Target.init(parsing:))
    var target: Target?

    @Option(help: ArgumentHelp("What this client calls itself (default: elemental@HOST).", valueName: "name"))
    var name: String?

    func validate() throws {
        if name?.isEmpty == true { throw ValidationError("--name takes a name that is not empty") }
    }

    static func check(count: Int?) throws {
        guard let count, !(1...1_000_000_000).contains(count) else { return }
        throw ValidationError("--count takes 1 to 1000000000, not \(count)")
    }

    static func check(seconds: Double?) throws {
        guard let seconds, !(0.001...86400).contains(seconds) else { return }
        throw ValidationError("--seconds takes 0.001 to 86400, not \(seconds)")
    }

    /// Connects to the target, or to a responder that lasts as long as `body`, which may make further connections.
    func measure(
        _ console: Console, _ output: OutputOptions,
        _ body: (ElementalDevice, @escaping ConnectAnother) async throws -> Event
    ) async throws {
        if let target { return try await measure(target, console, output, body) }
        let responder = try ResponderProcess.start()
        defer { responder.end() }
        try await measure(.address(host: "127.0.0.1", port: responder.port), console, output, body)
    }

    private func measure(
        _ target: Target, _ console: Console, _ output: OutputOptions,
        _ body: (ElementalDevice, @escaping ConnectAnother) async throws -> Event
    ) async throws {
        FileDescriptors.allowMany()
        let name = name ?? ClientOptions.defaultName
        let place = try await Place.find(target, output)
        let client = try await Client.open(place, as: name, output, console, elements: nil)
        let connect: ConnectAnother = { number, allowsUDP async throws(ElementalError) in
            var options = ConnectOptions()
            options.timeout = output.limit
            options.logger = output.logger
            options.expectsHello = true
            options.allowsUDP = allowsUDP
            return try await place.connect(as: "\(name) \(number)", elements: BenchElements.all, options: options)
        }
        do {
            console.emit(try await body(client.device, connect))
        } catch {
            await client.device.close()
            throw error
        }
        await client.device.close()
    }
}

/// What the measurements take that send messages over a transport.
struct BenchMessageOptions: ParsableArguments {
    @Option(help: "The way that the messages travel, tcp or udp.")
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
    var pace: Double? { rate == 0 ? nil : rate }

    /// The most bytes that a message of a bench service may have.
    var maximumSize: Int { transport == .udp ? Envelope.maximumDatagramValueByteCount : BenchElements.maximumByteCount }
}
