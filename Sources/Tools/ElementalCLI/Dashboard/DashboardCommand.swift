import ArgumentParser
import Dashboard
import Elemental
import ElementalFollowing
import ElementalSecurity
import ServiceMetrics
import Support
import WebServer

struct DashboardCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard",
        abstract: "Serve a page that shows services live and sets their elements, for a browser or a phone.",
        discussion: """
            Shows every service that is found, or the TARGETs alone. Each element has the control that fits it; numbers that \
            are only read have a plot. Several browsers may look at once. Metrics for Prometheus are at /metrics.

            Only this machine's browsers reach it, unless --lan opens it to the network, which shows the address as a QR \
            code too. The address has a token, without which access is refused; it is kept in the state directory, and \
            Prometheus sends it as 'Authorization: Bearer'. With --lan the page comes by https, with a certificate of the \
            dashboard's own, whose fingerprint is printed and which browsers ask about once, or with that of --certificate \
            and --key. Over plain http, --http, the network can read token and values: such a page cannot set or \
            pair, unless --insecure-control is given, and phones do not give it their motion.

            The page is a client of its own: a service for paired clients is paired from the page, by the code that it \
            shows, or with 'elemental pair' and the options that are named here.

              $ elemental dashboard
              $ elemental dashboard robot 192.168.1.7:5000 --port 8081
              $ elemental dashboard --lan
              $ elemental dashboard --lan --certificate pi.pem --key pi-key.pem
            """)

    @OptionGroup var services: ServicesOptions

    @Option(help: ArgumentHelp("The port; 0 lets the system choose.", valueName: "port"))
    var port = 8080

    @OptionGroup var listening: ListeningOptions

    @Option(
        help: ArgumentHelp(
            "Another name of this machine in browsers, such as the certificate's; shown in the address.",
            valueName: "name"))
    var host: String?

    @Option(
        name: .customLong("public-url"),
        help: ArgumentHelp(
            "The page's address at a reverse proxy, as in https://pi.example.org.",
            discussion: "X-Forwarded-For and the like are not trusted.", valueName: "url"))
    var publicURL: String?

    @Flag(help: "Only show values: set no elements and pair nothing.")
    var readOnly = false

    @Flag(help: "Ask paired services for the role control, also those that were not paired from the page.")
    var control = false

    @OptionGroup var token: TokenOption

    @Option(
        help: ArgumentHelp("For https: the certificate with its chain to the root, in PEM.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("For https: the certificate's private key, in PEM.", valueName: "file"))
    var key: String?

    @Flag(help: "With --lan or --listen: plain http, which the network can read.")
    var http = false

    @Flag(help: "With --lan or --listen: allow setting and pairing over plain http (insecure).")
    var insecureControl = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("https needs both --certificate FILE and --key FILE")
        }
        if http, listening.isLoopback {
            throw ValidationError("--http is for --lan or --listen: this machine's own browsers get plain http anyway")
        }
        if http, certificate != nil {
            throw ValidationError("give --http or --certificate, not both")
        }
        if certificate == "" || key == "" { throw ValidationError("--certificate and --key take the name of a file") }
        if readOnly, control || insecureControl {
            throw ValidationError("--read-only sets nothing: leave out --control and --insecure-control")
        }
        if let publicURL, WebOrigin(publicURL) == nil {
            throw ValidationError(
                "--public-url takes http or https, a host and perhaps a port, as in https://pi.example.org, not "
                    + "'\(publicURL.excerpt)'")
        }
        if control, !listening.isLoopback, isPlain, !insecureControl {
            throw ValidationError(
                "--control with \(listening.text) and --http needs --insecure-control: over plain http the page sets nothing"
            )
        }
        if let host, !WebServerOptions.isHost(host) {
            throw ValidationError("--host takes a name by which browsers know this machine, not '\(host.excerpt)'")
        }
        if insecureControl, !isPlain {
            throw ValidationError(
                "leave out --insecure-control: it is only for plain http on the network")
        }
    }

    private var origin: WebOrigin? { publicURL.flatMap { WebOrigin($0) } }

    /// Whether the dashboard makes a certificate. Behind a reverse proxy https is the proxy's.
    private var makesCertificate: Bool {
        !listening.isLoopback && certificate == nil && !http && !insecureControl && publicURL == nil
    }

    /// Whether other machines can read the page's traffic.
    private var isPlain: Bool {
        !listening.isLoopback && certificate == nil && !makesCertificate || origin?.isSecure == false
    }

    private var policy: BoardPolicy {
        if readOnly { return BoardPolicy(reason: "This page is read-only: it was started with --read-only.") }
        guard isPlain, !insecureControl else { return BoardPolicy() }
        return BoardPolicy(
            reason:
                "This page is read-only: it comes over plain http, which the network can read. Start it without "
                + "--http, or with --insecure-control.")
    }

    func perform(_ console: Console) async throws {
        try await Interruption.run(console) { [self] in
            let programIdentity = ProgramIdentity(name: "dashboard", role: control ? .control : .observe)
            let state = services.security.state.below(programIdentity.name).state
            let directory = try StateDirectory.path(explicit: state, environment: StateDirectory.environment)
            let pairings = try await Blocking.run { PagePairings(directory: directory, logger: output.logger) }
            let followed = try await services.makeFollower(for: programIdentity, console, output) {
                $0.connect.eventLoopGroup = $0.connect.eventLoopGroup.next()
                $0.pingInterval = .seconds(2)
                $0.role = { place in
                    policy.allowsControl && (control || pairings.contains(place)) ? .control : .observe
                }
            }
            var boardPolicy = policy
            boardPolicy.keyRemedy = followed.access.keyRemedy
            let secret: AccessToken
            if let given = try await token.read(output) {
                secret = AccessToken(text: given.text, path: given.path)
            } else {
                secret = try await Blocking.run { try AccessToken(directory: directory) }
            }
            var own: PageCertificate?
            if makesCertificate {
                let others = [host, listening.address].compactMap(\.self).filter { $0 != "0.0.0.0" && $0 != "::" }
                own = try await Blocking.run {
                    try PageCertificate(directory: directory, names: PageCertificate.names(others))
                }
            }
            let fingerprint = own?.fingerprint
            let web = try await webServer(secret, own, console)
            let dashboard = DashboardServer(
                followed.follower, metrics: ServiceMetrics(), pairings: pairings, policy: boardPolicy, web: web,
                hostName: HostName.current,
                logger: output.logger)
            try await withCleanup {
                let (_, port) = try await dashboard.start()
                await announce(port, secret, fingerprint, console)
                try await dashboard.run()
            } cleanup: {
                await dashboard.stop()
            }
        }
    }

    private static let longestPEM = 1 << 20

    private func webServer(
        _ secret: AccessToken, _ own: PageCertificate?, _ console: Console
    ) async throws -> WebServerOptions {
        var options = listening.webServer(port: port, console)
        if let host { options.hosts = [host] }
        options.publicOrigin = origin
        options.token = secret.text
        if let own {
            options.tls = WebServerTLS(certificateChain: own.chain, privateKey: own.key)
        } else if let certificate, let key {
            options.tls = WebServerTLS(
                certificateChain: Array(
                    try await FileContent.read(certificate, atMost: Self.longestPEM, timeout: output.limit)),
                privateKey: Array(try await FileContent.read(key, atMost: Self.longestPEM, timeout: output.limit)))
        }
        return options
    }

    private var shownHost: String {
        guard let address = listening.address else { return "127.0.0.1" }
        guard address == "0.0.0.0" || address == "::" else { return address }
        return IPAddress.reachable ?? "\(HostName.current).local"
    }

    /// Prints the page's address and the risk of plain http. The journal would keep the token, so it does not receive it.
    private func announce(_ port: Int, _ secret: AccessToken, _ fingerprint: String?, _ console: Console) async {
        let scheme = certificate == nil && fingerprint == nil ? "http" : "https"
        let host = self.host ?? shownHost
        let page = (origin?.description ?? "\(scheme)://\(host.withPort(port))") + "/"
        let url = "\(page)#token=\(secret.text)"
        var note: String?
        if isPlain {
            note =
                "every machine on this network can read the token and the values: they are not encrypted"
                + (insecureControl ? ", and can then set them" : "; the page is read-only")
        }
        let isHidden = console.isJournal(isResult: false)
        await console.emit(
            .serving(
                isHidden ? page : url, tokenFile: secret.path, isTokenHidden: isHidden, fingerprint: fingerprint, note))
        if !listening.isLoopback || publicURL != nil, !isHidden { await console.show(qrCode: url) }
    }
}
