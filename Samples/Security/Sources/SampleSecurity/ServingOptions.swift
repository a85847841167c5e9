public import ArgumentParser
public import Elemental
import Foundation

/// Whom a server admits: `--security` and `--state`.
public struct ServingOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Who may control it: open, paired-to-control or paired.",
            discussion: """
                open: everybody, also programs of the older ElementalController. paired-to-control: those that are not \
                paired only read. paired: they are not admitted. 'elemental pair' pairs another machine.
                """))
    var security = SecurityPolicy.pairedToControl

    @Option(
        help: ArgumentHelp(
            "Where its identity and paired clients are kept (default: as for the command elemental).",
            valueName: "directory"))
    var state: String?

    public init() {}

    /// Reads or creates the identity if the service needs one, and sets the service's policy.
    ///
    /// - Returns: what to do about pairing once there is a service.
    public func apply(to configuration: inout ServiceConfiguration) throws -> PairingAtStart {
        if security == .open { return PairingAtStart(isWanted: false) }
        let state = try SecurityState(directory: state)
        configuration.security =
            security == .paired
            ? .paired(identity: state.identity, store: state.trust)
            : .pairedToControl(identity: state.identity, store: state.trust)
        return PairingAtStart(isWanted: state.isNew)
    }
}

extension SecurityPolicy: @retroactive ExpressibleByArgument {}

/// Lets a first client pair with a service whose identity is new, if somebody sits at the terminal to read the code.
public struct PairingAtStart: Sendable {
    let isWanted: Bool

    /// Call it before the service starts.
    public func prepare(_ service: ElementalService, say: @escaping @Sendable (String) -> Void) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        service.onEvent { event in
            switch event {
            case .listening where isWanted && isTerminal:
                do { try service.openPairing() } catch { say("no pairing: \(error)") }
            case .listening where isWanted:
                say(
                    "nobody is paired yet; 'elemental open-pairing \(service.service)' shows a code for another machine"
                )
            case .pairing(.opened(let secret, let duration, _)) where isTerminal:
                say("type on the other machine, within \(duration.components.seconds) s:")
                say("  elemental pair \(service.service)      and the code \(secret.text)")
            case .pairing(.paired(let client)):
                say("paired: '\(client.name.printable)', which may \(client.role?.rawValue ?? "read")")
            case .pairing(.closed): say("pairing is over")
            default: break
            }
        }
    }
}
