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
            guard security != .open else { return ConnectOptions(security: .open) }
            if security == .paired {
                let state = try SecurityState(directory: state)
                return ConnectOptions(security: .required(identity: state.identity, store: state.trust))
            }
            guard let state = try SecurityState.existing(directory: state) else { return ConnectOptions() }
            return ConnectOptions(security: .automatic(identity: state.identity, store: state.trust))
        }
    }
}
