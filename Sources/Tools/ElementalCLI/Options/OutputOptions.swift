import ArgumentParser
import Logging

/// What every command takes.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Write results and events to standard output as JSON, one object a line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Log what the framework does to standard error.")
    var verbose = false

    @Option(
        help: ArgumentHelp(
            "How long each step may take: finding the service, connecting, an answer, the next bytes of a pipe that is read.",
            valueName: "seconds"))
    var timeout = 5.0

    /// The time limit of each step.
    var limit: Duration { .seconds(timeout) }

    var logger: Logger {
        guard verbose else { return Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() }) }
        var logger = Logger(label: "elemental", factory: { StreamLogHandler(label: $0, stream: LogStream()) })
        logger.logLevel = .debug
        return logger
    }

    func validate() throws {
        guard (0.001...86400).contains(timeout) else {
            throw ValidationError("--timeout takes seconds from 0.001 to 86400, not \(timeout)")
        }
    }
}

/// Takes the lines of the log to standard error, as everything else that goes there.
private struct LogStream: TextOutputStream {
    func write(_ text: String) {
        // Each event comes in one piece, its end included; any other end of a line came from outside.
        let line = text.last == "\n" ? String(text.dropLast()) : text
        StandardStreams.shared.offer(line, to: .error)
    }
}

/// A length of time as it is typed: seconds above 0.
struct Seconds: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        guard let seconds = Double(argument), seconds > 0, seconds < 1e9 else { return nil }
        duration = .seconds(seconds)
    }
}
