import ArgumentParser
import Elemental
import SignalR

/// How a hub is reached, for every command that talks to one.
struct HubOptions: ParsableArguments {
    @Option(
        name: .customLong("header"),
        help: ArgumentHelp("Sent with every request; may be given several times.", valueName: "name: value"),
        transform: HubHeader.init(parsing:))
    var headers: [HubHeader] = []

    @Option(
        help: ArgumentHelp(
            "Access token, sent as 'Authorization: Bearer'.",
            discussion: "@FILE reads it from a file, for each request anew; other users can see a command line.",
            valueName: "token"))
    var token: String?

    @Option(name: .customLong("protocol"), help: "What the messages are written in.")
    var encoding = HubEncoding.json

    @Option(
        name: .customLong("transport"),
        help: ArgumentHelp(
            "Use this one only; may be given several times (default: all, the first that works).",
            valueName: "transport"))
    var transports: [HubTransport] = []

    @Option(
        name: .customLong("trust"),
        help: ArgumentHelp(
            "Trust the certificates in a PEM file besides the system's, for a hub that signed its own; may be given several times.",
            valueName: "file"))
    var trustedFiles: [String] = []

    @Flag(help: "Open the WebSocket without asking the server for its transports first.")
    var skipNegotiation = false

    func validate() throws {
        if skipNegotiation, !transports.isEmpty, transports.contains(where: { $0 != .websockets }) {
            throw ValidationError("--skip-negotiation is for '--transport websockets' alone")
        }
        if encoding == .messagepack, !transports.isEmpty, transports.allSatisfy({ $0 == .sse }) {
            throw ValidationError("server-sent events carry text only: leave out '--protocol messagepack'")
        }
        if let token {
            guard !token.isEmpty, token != "@" else {
                throw ValidationError("--token takes a token that is not empty, or @FILE")
            }
            guard token.hasPrefix("@") || token.isHeaderValue else {
                throw ValidationError("--token takes a token without line ends and other control characters")
            }
        }
        if trustedFiles.contains("") { throw ValidationError("--trust takes the name of a file") }
    }

    /// Checks a hub's address by the client's own rules.
    static func check(url: String, _ what: String = "URL") throws {
        do {
            try HubConnection.check(url: url)
        } catch {
            throw ValidationError("\(what): \(error.message)")
        }
    }

    /// The most bytes of certificates: many times what systems trust in all.
    private static let longestCertificates = 4 * 1024 * 1024
    /// The most bytes of a token, which goes into a header.
    private static let longestToken = 65536

    /// A connection to the hub, not started.
    func connection(to url: String, _ output: OutputOptions, reconnects: Bool) async throws -> HubConnection {
        var builder = HubConnectionBuilder(url: url).withHubProtocol(encoding.hubProtocol).withLogging(output.logger)
            .withHeaders(Dictionary(headers.map { ($0.name, $0.value) }) { $1 })
            .withOptions { options in
                options.handshakeTimeout = output.limit
                if !transports.isEmpty { options.transports = Set(transports.map(\.kind)) }
            }
        for file in trustedFiles {
            let pem = try await FileContent.read(file, atMost: Self.longestCertificates, timeout: output.limit)
            do throws(SignalRError) {
                builder = try builder.withTrustedCertificates(pem: pem)
            } catch {
                throw CommandFailure("invalidFile", "file '\(file)' holds no certificate in PEM form")
            }
        }
        if let token { builder = builder.withAccessToken { try await Self.read(token, output.limit) } }
        if skipNegotiation { builder = builder.withoutNegotiation() }
        if reconnects { builder = builder.withAutoReconnect(GrowingIntervals()) }
        return builder.build()
    }

    /// The token, or what the file holds that it names.
    private static func read(_ token: String, _ timeout: Duration) async throws -> String {
        guard token.hasPrefix("@") else { return token }
        let content = try await FileContent.read(String(token.dropFirst()), atMost: longestToken, timeout: timeout)
        return String(decoding: content, as: UTF8.self).trimmed
    }
}

/// A header as it is typed: `NAME: VALUE`.
struct HubHeader: Sendable {
    let name: String
    let value: String

    /// What is wrong with a spelling, in words.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    init(parsing text: String) throws(Problem) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw Problem(description: "write it as 'NAME: VALUE'")
        }
        // Anything else could begin another header.
        guard String(parts[0]).isHeaderName else {
            throw Problem(description: "'\(parts[0].excerpt)' is no header's name")
        }
        guard String(parts[1]).isHeaderValue else { throw Problem(description: "a header's value has no line ends") }
        name = String(parts[0])
        value = String(parts[1]).trimmed
    }
}

/// The protocols by the names they have on the command line.
enum HubEncoding: String, ExpressibleByArgument, CaseIterable, Sendable {
    case json, messagepack

    var hubProtocol: HubProtocol {
        switch self {
        case .json: .json
        case .messagepack: .messagePack
        }
    }
}

/// The transports by the names they have on the command line.
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

/// For the commands that go on when the connection to the hub is lost.
struct HubReconnectOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "When the connection is lost, connect again, until Ctrl-C.",
            discussion: "Attempts come 1, 2, 4 s and so on up to 30 s apart."))
    var reconnect = false
}
