import Foundation

/// A command on a page, with the output that the page shows below it.
struct ShellCommand: Sendable {
    /// As it is on the page, without the prompt and the comment at its end.
    let text: String
    var shown: [String]

    /// The commands of a block: in `console` the lines with a prompt, in `sh` every line. A command goes on in the next
    /// line after `|` and `\`.
    static func commands(in block: Page.Block) -> [ShellCommand] {
        let hasPrompts = block.language == "console"
        var commands: [(text: String, shown: [String])] = []
        var goesOn = false
        for line in block.lines {
            if goesOn {
                commands[commands.count - 1].text += "\n" + line
            } else if hasPrompts ? line.hasPrefix("$ ") : !line.isEmpty && !line.hasPrefix("#") {
                commands.append((hasPrompts ? String(line.dropFirst(2)) : line, []))
            } else {
                if !commands.isEmpty, !line.isEmpty { commands[commands.count - 1].shown.append(line) }
                continue
            }
            goesOn = line.hasSuffix("|") || line.hasSuffix("\\")
        }
        return commands.map { command in
            let text = command.text.replacing(#/ {2,}#.*$/#, with: "").trimmingCharacters(in: .whitespaces)
            return ShellCommand(text: text, shown: command.shown)
        }
    }

    /// Whether it runs until it is stopped.
    var runsOn: Bool {
        if text.hasSuffix("&") { return true }
        guard !text.contains(#/--(for|count|seconds|frames|once)\b/#), !text.hasPrefix("echo ") else { return false }
        return text.contains(
            /elemental (publish|browse|watch|connect|c64 (gateway|terminal|run)|signalr (listen|bridge)|bench serve)\b/)
    }

    var publishes: Bool { text.contains(/elemental (publish|c64 gateway|bench serve)\b/) }

    /// Whether two lines of output are equal except for what differs between runs and machines: addresses, ports, host
    /// names, the times of a terminal's records, the width of columns.
    static func isSame(_ shown: String, _ printed: String) -> Bool { comparable(shown) == comparable(printed) }

    private static func comparable(_ line: String) -> String {
        line
            .replacing(/\b\d+\.\d+\.\d+\.\d+:\d+/, with: "ADDRESS:PORT")
            .replacing(/\b\d+\.\d+\.\d+\.\d+/, with: "ADDRESS")
            .replacing(/[A-Za-z0-9-]+\.local:\d+/, with: "HOST:PORT")
            .replacing(/port \d+/, with: "port PORT")
            .replacing(#/^ *\d+\.\d{3} (?=[<>])/#, with: "TIME ")
            .replacing(#/ +/#, with: " ")
            .trimmingCharacters(in: .whitespaces)
    }
}
