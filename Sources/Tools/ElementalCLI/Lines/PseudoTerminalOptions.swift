import ArgumentParser

struct PseudoTerminalOptions: ParsableArguments {
    @Flag(help: "Make a pseudo-terminal, whose name is printed, for a program that uses a device.")
    var pty = false

    @Option(
        help: ArgumentHelp(
            "With --pty: make a symbolic link to it, so that its name stays the same.", valueName: "path"))
    var link: String?

    func validate() throws {
        guard link == nil || pty else { throw ValidationError("--link goes with --pty") }
    }
}
