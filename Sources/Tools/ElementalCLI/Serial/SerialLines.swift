import ArgumentParser
import SerialLines
import Support

extension ConsoleEvent where Self == Notice {
    /// A serial line, or a socket or pseudo-terminal in its place, has changed.
    static func line(_ event: LineEvent, of line: String? = nil) -> Notice {
        func notice(
            _ state: String, _ text: String, line: String? = line, because message: String? = nil,
            retryIn delay: Duration? = nil
        ) -> Notice {
            Notice(
                "line",
                [("state", .string(state)), ("line", .optional(line)), ("message", .optional(message))]
                    + JSONText.delay(delay),
                text + (delay.map { "; retrying in \($0)" } ?? ""))
        }
        let name = line ?? "the line"
        return switch event {
        case .ready(let place): notice("ready", "the line is \(place)", line: place)
        case .opened: notice("open", (line ?? "the other end of the line") + " is connected")
        case .lost(let reason, let delay):
            notice("lost", "\(name) is lost: \(reason)", because: reason, retryIn: delay)
        case .refused(let host):
            notice(
                "refused", "\(host) was refused \(name): another connection uses it",
                because: "\(host) wanted it")
        case .notListening(let reason, let delay):
            notice("notListening", "\(name) does not listen: \(reason)", because: reason, retryIn: delay)
        }
    }
}

struct PseudoTerminalOptions: ParsableArguments {
    @Flag(help: "Make a pseudo-terminal, whose name is printed, for a program that uses a device.")
    var pty = false

    @Option(
        help: ArgumentHelp(
            "With --pty: make a symbolic link to it, so that its name stays the same.", valueName: "path"))
    var link: String?

    func validate() throws { guard link == nil || pty else { throw ValidationError("--link needs --pty") } }
}
