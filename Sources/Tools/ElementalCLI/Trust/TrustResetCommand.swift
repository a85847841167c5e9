import ArgumentParser
import ElementalSecurity

struct TrustResetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Delete this user's identity and all trust.",
        discussion: """
            The next command makes a new identity. Everything that was paired has to be paired again, and the other ends \
            have to revoke the old one first: to them the new key is somebody else's. It also helps where a file is damaged.

            Example:
              $ elemental trust reset --yes
            """)

    @Flag(help: "Really do it.")
    var yes = false

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard yes else {
            throw ValidationError("this deletes the identity and all trust, which cannot be undone: say --yes")
        }
    }

    func perform(_ console: Console) async throws {
        try await state.reset()
        await console.talk("identity and trust are deleted")
    }
}
