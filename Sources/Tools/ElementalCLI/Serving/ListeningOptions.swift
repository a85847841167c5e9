import ArgumentParser
import Elemental
import ElementalSecurity
import Support
import WebServer

/// The addresses at which a command serves: `--lan` and `--listen`.
struct ListeningOptions: ParsableArguments {
    @Flag(help: "Serve the whole network, not only this machine.")
    var lan = false

    @Option(
        help: ArgumentHelp("Serve only at this address of this machine (default: loopback).", valueName: "address"))
    var listen: String?

    /// An old spelling of `--listen`.
    @Option(name: .customLong("address"), help: .hidden)
    var oldAddress: String?

    func validate() throws {
        if oldAddress != nil { OldSpelling.note("--address", now: "--listen, or --lan for all addresses") }
        guard let address = listen ?? oldAddress else { return }
        if lan { throw ValidationError("give --lan or --listen, not both") }
        guard WebServerOptions.isHost(address) else {
            throw ValidationError("--listen takes an address of this machine, not '\(address.excerpt)'")
        }
    }

    /// The address to listen on; `nil` for loopback.
    var address: String? { lan ? "0.0.0.0" : listen ?? oldAddress }

    var text: String { lan ? "--lan" : "--listen \(address ?? "")" }

    /// Whether only this machine's programs reach it.
    var isLoopback: Bool { address.map { $0 == "localhost" || ComparableHost($0).isLoopback } ?? true }

    /// The options of a web server that listens there, and reports when its socket is closed and opened again.
    func webServer(port: Int, _ console: Console) -> WebServerOptions {
        var options = WebServerOptions()
        options.port = port
        if let address { options.host = address }
        options.acceptsOwnAddresses = address == "0.0.0.0" || address == "::"
        options.onListening = { console.offer(.port($1, $0)) }
        return options
    }
}

/// The token that clients of a web server have to send: `--token @FILE`.
struct TokenOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the token that clients have to send, at least 16 characters.",
            discussion: "Only a file: other users of this machine can see command lines.", valueName: "@file"))
    var token: String?

    /// The minimum length of a token in characters. At ten attempts a minute it cannot be guessed.
    static let minimumLength = 16
    private static let maximumLength = 1024

    func validate() throws {
        _ = try file
    }

    private var file: SecretFile? {
        get throws(ValidationError) {
            guard let token else { return nil }
            return try SecretFile(token, "--token", "token")
        }
    }

    /// Reads the token; `nil` if the option was not given.
    func read(_ output: OutputOptions) async throws -> (text: String, path: String)? {
        guard let file = try file else { return nil }
        let text = try await file.text(atMost: Self.maximumLength, within: output.limit).trimmed
        guard text.utf8.count >= Self.minimumLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandFailure(
                "invalidFile",
                "file '\(file.path.excerpt)' has no token: write one line of \(Self.minimumLength) or more letters, digits "
                    + "and signs, for example with 'openssl rand -hex 16'")
        }
        return (text, file.path)
    }
}
