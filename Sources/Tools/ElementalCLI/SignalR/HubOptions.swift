import ArgumentParser
import Elemental
import SignalR
import Support

/// The options of every command that connects to a hub.
struct HubOptions: ParsableArguments {
    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "A header to send with every request; may be given several times.", valueName: "name: value"),
        transform: HubHeader.init(parsing:))
    var headers: [HubHeader] = []

    @Option(
        help: ArgumentHelp(
            "A file with the access token, read for each request and sent as 'Authorization: Bearer'.",
            discussion: "Only a file: other users of this machine can see command lines.", valueName: "@file"))
    var token: String?

    @Option(name: .customLong("protocol"), help: "The encoding of the messages.")
    var encoding = HubEncoding.json

    @Option(
        name: .customLong("transport"),
        help: ArgumentHelp(
            "Use only this transport; may be given several times (default: the first of all that works).",
            valueName: "transport"))
    var transports: [HubTransport] = []

    @OptionGroup var certificates: CertificateOptions

    @Flag(help: "Open a WebSocket at once, without asking the server for its transports.")
    var skipNegotiation = false

    func validate() throws {
        if skipNegotiation, !transports.isEmpty, transports.contains(where: { $0 != .websockets }) {
            throw ValidationError("--skip-negotiation works with '--transport websockets' only")
        }
        if encoding == .messagepack, !transports.isEmpty, transports.allSatisfy({ $0 == .sse }) {
            throw ValidationError("server-sent events carry text only: leave out '--protocol messagepack'")
        }
        guard let token else { return }
        if token.isEmpty || token.hasPrefix("@") {
            _ = try SecretFile(token, "--token", "token")
        } else {
            OldSpelling.note("--token TOKEN", now: "--token @FILE")
            guard token.isHeaderValue else {
                throw ValidationError("--token takes a token without line breaks and other control characters")
            }
        }
    }

    /// Checks a hub's address by the client's rules.
    static func check(url: String, _ what: String = "URL") throws {
        try checked("\(what): ") { try HubConnection.check(url: url) }
    }

    /// Makes a connection to the hub without starting it.
    func connection(to url: String, _ output: OutputOptions, reconnects: Bool) async throws -> HubConnection {
        var builder = HubConnectionBuilder(url: url).withHubProtocol(encoding.hubProtocol).withLogging(output.logger)
            .withHeaders(Dictionary(headers.map { ($0.name, $0.value) }) { $1 })
            .withOptions { options in
                options.handshakeTimeout = output.limit
                if !transports.isEmpty { options.transports = Set(transports.map(\.kind)) }
            }
        try await certificates.load(output) { builder = try builder.withTrustedCertificates(pem: $0) }
        if let token { builder = builder.withAccessToken { try await Self.read(token, output.limit) } }
        if skipNegotiation { builder = builder.withoutNegotiation() }
        if reconnects { builder = builder.withAutoReconnect(.exponential(maximum: .seconds(30), jitter: 0)) }
        return builder.build()
    }

    /// The token, or the content of the file that it names.
    private static func read(_ token: String, _ timeout: Duration) async throws -> String {
        guard token.hasPrefix("@") else { return token }
        return try await SecretFile(token, "--token", "token").text(atMost: 65536, within: timeout).trimmed
    }
}

/// `NAME: VALUE` from the command line: an HTTP header.
struct HubHeader: Sendable {
    let name: String
    let value: String

    init(parsing text: String) throws(ValidationError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { throw ValidationError("write it as 'NAME: VALUE'") }
        // Any other character could begin another header.
        guard String(parts[0]).isHeaderName else {
            throw ValidationError("'\(parts[0].excerpt)' is not a valid header name")
        }
        guard String(parts[1]).isHeaderValue else {
            throw ValidationError("a header's value cannot contain line breaks")
        }
        name = String(parts[0])
        value = String(parts[1]).trimmed
    }
}

enum HubEncoding: String, ExpressibleByArgument, CaseIterable, Sendable {
    case json, messagepack

    var hubProtocol: HubProtocol { self == .json ? .json : .messagePack }
}

enum HubTransport: String, ExpressibleByArgument, CaseIterable, Sendable {
    case websockets, sse, longpolling

    var kind: TransportKind {
        switch self {
        case .websockets: .webSockets
        case .sse: .serverSentEvents
        case .longpolling: .longPolling
        }
    }
}

/// The option of the commands that can outlast a connection to a hub.
struct HubReconnectOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "When the connection is lost, connect again, until Ctrl-C.",
            discussion: "Attempts come 1, 2, 4 s and so on up to 30 s apart."))
    var reconnect = false
}
