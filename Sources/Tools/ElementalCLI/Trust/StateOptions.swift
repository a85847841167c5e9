import ArgumentParser
import ElementalSecurity

/// Where identity and trusted peers are kept.
struct StateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The directory of this user's identity and trusted peers (default: $ELEMENTAL_STATE, $STATE_DIRECTORY, \
            $XDG_STATE_HOME/elemental or ~/.local/state/elemental).
            """, valueName: "dir"))
    var state: String?

    /// Reads identity and trust, or creates both.
    func open() async throws -> SecurityState {
        try await Blocking.run { [state] in try SecurityState(directory: state) }
    }

    /// Reads identity and trust, if there is any.
    func openExisting() async throws -> SecurityState? {
        try await Blocking.run { [state] in try SecurityState.existing(directory: state) }
    }

    /// Removes both.
    func reset() async throws {
        try await Blocking.run { [state] in try SecurityState.reset(directory: state) }
    }
}
