import ArgumentParser
import ElementalSecurity

struct StateOptions: ParsableArguments {
    static let help = ArgumentHelp(
        """
        The directory of this user's identity and trusted peers (default: $ELEMENTAL_STATE, $STATE_DIRECTORY, \
        $XDG_STATE_HOME/elemental or ~/.local/state/elemental).
        """, valueName: "dir")

    @Option(help: StateOptions.help)
    var state: String?

    init() {}

    /// For a group of options that has the directory as an option of its own: in a debug build the parser takes four times as
    /// long for each level of groups within groups.
    init(of directory: String?) {
        self.init()
        state = directory
    }

    /// Reads identity and trust, or creates both.
    func open() async throws -> SecurityState {
        try await withAdvice { [state] in try SecurityState(directory: state) }
    }

    /// Reads identity and trust, if there is any.
    func openExisting() async throws -> SecurityState? {
        try await withAdvice { [state] in try SecurityState.existing(directory: state) }
    }

    /// Runs `body`. If the error advises `elemental trust reset`, adds `--state` to that command, so that it resets
    /// this directory and not the user's, which has another identity.
    private func withAdvice<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await Blocking.run(body)
        } catch let error as SecurityError where !argument.isEmpty {
            let command = "\"elemental trust reset"
            throw SecurityError(error.code, error.message.replacing(command + "\"", with: command + argument + "\""))
        }
    }

    /// Reads identity and trust for a command that connects; `nil` for a user without a home, who has paired nothing.
    func openForConnecting() async throws -> SecurityState? { try await withAdvice { try existing() } }

    /// Does the same as ``openForConnecting()``, but without the advice. Blocks.
    func existing() throws -> SecurityState? {
        do throws(SecurityError) {
            return try SecurityState.existing(directory: state)
        } catch {
            guard error.code == .noStateDirectory, state == nil else { throw error }
            return nil
        }
    }

    /// Reads identity and trust, or creates both, for a programIdentity; `nil` for a user without a home.
    func openOrCreateForProgram() async throws -> SecurityState? {
        do {
            return try await open()
        } catch let error as SecurityError where error.code == .noStateDirectory && state == nil {
            return nil
        }
    }

    /// The directory of a program that has an identity of its own: the one that was given, or one below the user's.
    func below(_ name: String) -> StateOptions {
        guard state == nil, let path = try? StateDirectory.path(environment: StateDirectory.environment) else {
            return self
        }
        var options = self
        options.state = path + "/" + name
        return options
    }

    /// The option as it is typed, with a blank before it; empty if it was not given.
    var argument: String { state.map { " --state \($0.shellArgument)" } ?? "" }

    func reset() async throws { try await Blocking.run { [state] in try SecurityState.reset(directory: state) } }
}
