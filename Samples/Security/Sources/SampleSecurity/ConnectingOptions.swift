public import ArgumentParser
public import Elemental

/// How a client connects: `--security` and `--state`.
public struct ConnectingOptions: ParsableArguments, Sendable {
    /// What a client may insist on.
    enum Security: String, ExpressibleByArgument, CaseIterable, Sendable {
        case open, paired
    }

    @Option(
        help: ArgumentHelp(
            "open: never encrypted; paired: only paired services. (default: encrypted if the service is paired)"))
    var security: Security?

    @Option(
        help: ArgumentHelp(
            "Where the identity and the paired services are kept (default: as for the command elemental).",
            valueName: "directory"))
    var state: String?

    public init() {}

    /// Options for `connect`, with this user's identity if it has one: 'elemental pair' makes it.
    public var connectOptions: ConnectOptions {
        get throws {
            var options = ConnectOptions()
            guard security != .open else {
                options.security = .open
                return options
            }
            if security == .paired {
                let state = try SecurityState(directory: state)
                options.security = .required(identity: state.identity, store: state.trust)
            } else if let state = try SecurityState.existing(directory: state) {
                options.security = .automatic(identity: state.identity, store: state.trust)
            }
            return options
        }
    }
}
