import ArgumentParser
import Elemental
import ElementalSecurity

/// How a command connects: encrypted or not, and as whom.
struct ClientSecurityOptions: ParsableArguments {
    @Option(
        name: .customLong("security"),
        help: ArgumentHelp(
            """
            paired: only to services that are paired or this user's own; open: without encryption, even to paired ones \
            (default: encrypted to paired services, without encryption to others).
            """))
    var policy: ClientPolicy?

    @OptionGroup var state: StateOptions

    /// Reads identity and trusted services, if there are any: connecting makes no identity.
    ///
    /// - Throws: ``CommandFailure`` with the code `notPaired` if pairing is required and there is no identity;
    ///   `SecurityError` if the files cannot be used.
    func load() async throws -> ClientSecurity {
        if policy == .open { return .open }
        guard let state = try await existing() else {
            guard policy == .paired else { return .automatic }
            throw CommandFailure("notPaired", "nothing is paired with this user yet; pair first: elemental pair TARGET")
        }
        return policy == .paired
            ? .required(identity: state.identity, store: state.trust)
            : .automatic(identity: state.identity, store: state.trust)
    }

    private func existing() async throws -> SecurityState? {
        do {
            return try await state.openExisting()
        } catch let error as SecurityError where error.code == .noStateDirectory && state.state == nil {
            // A user without a home has paired nothing.
            return nil
        }
    }
}

/// What a client demands of a connection.
enum ClientPolicy: String, ExpressibleByArgument, CaseIterable, Sendable {
    case open, paired
}
