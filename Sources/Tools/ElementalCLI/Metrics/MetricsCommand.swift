import ArgumentParser
import Dashboard
import Elemental
import ElementalFollowing
import ElementalSecurity
import ServiceMetrics
import Support
import WebServer

struct MetricsCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Serve services' values and connections as metrics for Prometheus.",
        discussion: """
            Connects to the TARGETs, or to every service that is found, and answers GET /metrics with their values, how \
            old these are, and what passes over the connections. Services are followed as they come and go: one that is \
            away is tried again until Ctrl-C, and its values are left out until it is back.

            It listens on this machine's loopback address only; --lan lets others read the values, and then takes a \
            --token, which Prometheus sends as 'Authorization: Bearer'. For a service for paired clients it has an \
            identity of its own: 'elemental pair' with the options that it names.

              $ elemental metrics
              $ elemental metrics robot lamp --lan --token @token.txt
              $ elemental metrics robot --once
              $ elemental metrics robot --once --to /var/lib/node_exporter/robot.prom
            """)

    @OptionGroup var services: ServicesOptions

    @Option(help: ArgumentHelp("The port; 0 lets the system choose.", valueName: "port"))
    var port = defaultPort

    @OptionGroup var listening: ListeningOptions

    @Option(
        help: ArgumentHelp(
            "Another host name under which clients request the metrics; may be given several times.",
            valueName: "name"))
    var host: [String] = []

    @OptionGroup var token: TokenOption

    @Flag(help: "Print the metrics once, when all TARGETs are connected or after --timeout, and end.")
    var once = false

    @Option(
        help: ArgumentHelp(
            "With --once: replace this file with the metrics, for node_exporter's textfile collector.",
            valueName: "file"))
    var to: String?

    @OptionGroup var output: OutputOptions

    /// Prometheus' exporters share the ports 9100 to 9999, all of which are taken. This port is below those that
    /// systems choose from.
    static let defaultPort = 29464

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        if once, port != Self.defaultPort || listening.address != nil || token.token != nil || !host.isEmpty {
            throw ValidationError("--once serves nothing: leave out --port, --lan, --listen, --host and --token")
        }
        if to != nil, !once { throw ValidationError("--to needs --once") }
        for name in host where !WebServerOptions.isHost(name) {
            throw ValidationError("--host takes a host name without port, not '\(name.excerpt)'")
        }
        if !listening.isLoopback, token.token == nil {
            throw ValidationError(
                "\(listening.text) opens the values to the network: give --token @FILE, with a token such as from "
                    + "'openssl rand -hex 16'")
        }
    }

    func perform(_ console: Console) async throws {
        let work: Interruption.Work = once ? .task : .endless
        try await Interruption.run(console, work) { [self] in
            let programIdentity = ProgramIdentity(name: "metrics", role: .observe)
            let followed = try await services.makeFollower(for: programIdentity, console, output) {
                $0.pingInterval = Self.pingInterval
                $0.keepsLongValues = false
            }
            let metrics = ServiceMetrics()
            followed.follower.onEvent { metrics.note($0) }
            if once {
                try await print(metrics, of: followed, console)
            } else {
                try await serve(metrics, of: followed.follower, console)
            }
        }
    }

    /// How often round trips are measured: at least once between two scrapes at Prometheus' usual intervals.
    private static let pingInterval: Duration = .seconds(5)

    private func serve(_ metrics: ServiceMetrics, of follower: Follower, _ console: Console) async throws {
        var options = listening.webServer(port: port, console)
        options.hosts = Set(host)
        if !listening.isLoopback, let name = HostName.known { options.hosts.formUnion([name, "\(name).local"]) }
        options.token = try await token.read(output)?.text
        var routes = WebRoutes()
        routes.generated["/metrics"] = { WebResponse(metrics: metrics) }
        let server = WebServer(options, routes: routes, logger: output.logger)
        let (host, port) = try await server.start()
        try await withCleanup { [options] in
            // A wildcard address cannot be requested, so the host's name is shown.
            let known = options.acceptsOwnAddresses ? HostName.known.map { "\($0).local" } ?? host : host
            let note =
                listening.isLoopback
                ? nil : "every machine on this network can read the token and the values: they are not encrypted"
            await console.emit(.serving("http://\(known.withPort(port))/metrics", note))
            try await follower.run()
        } cleanup: {
            await server.stop()
        }
    }

    /// Prints the metrics when all targets are connected and have sent their values, or after the timeout; then throws if
    /// a target is not connected.
    private func print(_ metrics: ServiceMetrics, of followed: FollowedServices, _ console: Console) async throws {
        let follower = followed.follower
        let progress = TargetProgress(targets: followed.targets)
        follower.onEvent { progress.note($0) }
        let (text, failure) = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await follower.run() }
            group.addTask { [services, output] in
                // There is no way to know that all services have been found, so this waits for the whole time.
                let deadline = ContinuousClock.now + output.limit
                if services.followsAll {
                    await Delay.wait(output.limit)
                } else {
                    await Interruption.limit(to: output.limit) { await progress.allConnected.wait() }
                }
                let rest = max(.milliseconds(100), min(Self.settlingTime, deadline - .now))
                await settle(progress.connected, of: follower, within: rest)
            }
            defer { group.cancelAll() }
            try await group.next()
            // Collects the metrics while the services are still connected.
            return (metrics.text(), progress.failure { "not connected within \(output.limit): \($0)" })
        }
        try Task.checkCancellation()
        if let to {
            try FileContent.replace(to, with: text)
        } else {
            await console.emit(.metrics(String(decoding: text, as: UTF8.self)))
        }
        if let failure { throw failure }
    }

    private static let settlingTime: Duration = .seconds(1)

    /// Waits until the services have sent the values that they had when they were connected: the answer to a ping comes
    /// after them. An older service does not answer pings.
    private func settle(_ keys: [ServiceKey], of follower: Follower, within time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for key in keys {
                guard let device = follower.device(of: key) else { continue }
                group.addTask {
                    do throws(ElementalError) {
                        _ = try await device.ping(timeout: time)
                    } catch {
                        if error.code == .notAllowed { await Delay.wait(min(time, .milliseconds(500))) }
                    }
                }
            }
        }
    }
}

extension ConsoleEvent where Self == Notice {
    static func metrics(_ text: String) -> Notice {
        Notice("metrics", [("text", .string(text))], isResult: true, text.split(separator: "\n").map(String.init))
    }
}
