import ArgumentParser
import Bridging
import Dashboard
import Elemental
import ElementalSecurity
import ServiceMetrics
import Support
import WebServer

/// Serves a page that shows services and sets their elements.
struct DashboardCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract: "Serve a page that shows services live and sets their elements, for a browser or a phone.",
        discussion: """
            Shows every service that is found, or the TARGETs alone. Each element has the control that fits it; numbers that \
            are only read have a plot. Several browsers may look at once. Metrics for Prometheus are at /metrics.

            Only this machine's browsers reach it, unless --lan opens it to the network: the address then has a token, and \
            is shown as a QR code too. Over plain http the network can read token and values, so such a page only reads and \
            does not pair, unless --certificate and --key give https, or --insecure-control is said.

            The page is a client of its own: a service for paired clients is paired from the page, by the code that it \
            shows, or with 'elemental pair' and the options that are named here.

              $ elemental dashboard
              $ elemental dashboard robot 192.168.1.7:5000 --port 8081
              $ elemental dashboard --lan --certificate pi.pem --key pi-key.pem
            """)

    @OptionGroup var sessions: SessionsOptions

    @Option(help: ArgumentHelp("The port; 0 lets the system choose.", valueName: "port"))
    var port = 8080

    @Flag(help: "Serve the network, not this machine alone. Browsers need the token in the address.")
    var lan = false

    @Option(
        help: ArgumentHelp(
            "A name by which browsers know this machine besides its own, such as the certificate's; shown in the address.",
            valueName: "name"))
    var host: String?

    @Flag(help: "Show only: nothing is set, nothing is paired.")
    var readOnly = false

    @Flag(help: "Ask paired services for the role control, also those that were not paired from the page.")
    var control = false

    @OptionGroup var token: TokenOption

    @Option(
        help: ArgumentHelp("For https: the certificate and those that lead to its root, in PEM.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("For https: the certificate's private key, in PEM.", valueName: "file"))
    var key: String?

    @Flag(help: "With --lan and without a certificate: set and pair all the same, though the network can listen.")
    var insecureControl = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("https takes both, --certificate FILE and --key FILE")
        }
        if certificate == "" || key == "" { throw ValidationError("--certificate and --key take the name of a file") }
        if readOnly, control || insecureControl {
            throw ValidationError("--read-only sets nothing: leave out --control and --insecure-control")
        }
        if control, lan, certificate == nil, !insecureControl {
            throw ValidationError(
                "--control with --lan takes --certificate and --key, or --insecure-control: over plain http the page sets nothing"
            )
        }
        if let host, !WebServerOptions.isHost(host) {
            throw ValidationError("--host takes a name by which browsers know this machine, not '\(host.excerpt)'")
        }
        if insecureControl, !lan || certificate != nil {
            throw ValidationError(
                "--insecure-control is for --lan without a certificate; otherwise nothing is forbidden")
        }
    }

    /// What pages may do.
    private var policy: BoardPolicy {
        if readOnly {
            return BoardPolicy(
                allowsControl: false, allowsPairing: false,
                reason: "This page only shows: it was started with --read-only.")
        }
        guard lan, certificate == nil, !insecureControl else { return .full }
        return BoardPolicy(
            allowsControl: false, allowsPairing: false,
            reason: "This page only shows: it comes over plain http, so that the network can read along. Start it with "
                + "--certificate and --key, or with --insecure-control.")
    }

    func perform(_ console: Console) async throws {
        try await Interruption.run(console) { [self] in
            let deputy = Deputy(name: "dashboard", role: control ? .control : .observe)
            let state = sessions.security.state.below(deputy.name).state
            let pairings = try await Blocking.run {
                PagePairings(
                    directory: try? StateDirectory.path(explicit: state, environment: StateDirectory.environment),
                    logger: output.logger)
            }
            let followed = try await sessions.makeSessions(for: deputy, output, pingInterval: .seconds(2)) { place in
                policy.allowsControl && (control || pairings.contains(place)) ? .control : .observe
            }
            let reporter = SessionReporter(console, followed.access)
            followed.sessions.onEvent { reporter.note($0) }
            var boardPolicy = policy
            boardPolicy.keyRemedy = followed.access.keyRemedy
            let web = try await webOptions
            let dashboard = DashboardServer(
                followed.sessions, metrics: ServiceMetrics(), pairings: pairings, policy: boardPolicy, web: web,
                hostName: HostName.current,
                logger: output.logger)
            try await withCleanup {
                let (_, port) = try await dashboard.start()
                await announce(port, web.token, console)
                try await dashboard.run()
            } cleanup: {
                await dashboard.stop()
            }
        }
    }

    /// The most bytes of a certificate's chain or a key.
    private static let longestPEM = 1 << 20

    private var webOptions: WebServerOptions {
        get async throws {
            var options = WebServerOptions()
            options.port = port
            options.acceptsOwnAddresses = lan
            if let host { options.hosts = [host] }
            options.token = try await token.read(output) ?? (lan ? AccessToken.make() : nil)
            if let certificate, let key {
                options.tls = WebServerTLS(
                    certificateChain: Array(
                        try await FileContent.read(certificate, atMost: Self.longestPEM, timeout: output.limit)),
                    privateKey: Array(try await FileContent.read(key, atMost: Self.longestPEM, timeout: output.limit)))
            }
            return options
        }
    }

    /// Says where the page is, and who can read along.
    private func announce(_ port: Int, _ token: String?, _ console: Console) async {
        let scheme = certificate == nil ? "http" : "https"
        let host = self.host ?? (lan ? OwnAddress.reachable ?? "\(HostName.current).local" : "127.0.0.1")
        let name = host.contains(":") ? "[\(host)]" : host
        let url = "\(scheme)://\(name):\(port)/" + (token.map { "#token=\($0)" } ?? "")
        var note: String?
        if lan, certificate == nil {
            note =
                "whoever listens on this network can read the token and the values: they are not encrypted"
                + (insecureControl ? ", and can then set them" : "; the page only shows")
        }
        await console.emit(ServingEvent(url: url, note: note))
        if lan { await console.show(qrCode: url) }
    }
}
