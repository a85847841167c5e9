import ArgumentParser
import ElementalSecurity
import Logging

struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Write results and events to standard output as JSON, one object a line.")
    var json = false

    @Flag(name: .shortAndLong, help: "Write the framework's log to standard error.")
    var verbose = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "How long each step may take: finding the service, connecting, an answer, the next bytes from a pipe "
                + "(default: $ELEMENTAL_TIMEOUT or 5).",
            valueName: "seconds"))
    var timeout: Double?

    /// Whether the arguments, which may be invalid, request JSON: `--json`, or `-j` alone or among other flags.
    static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.contains { argument in
            argument == "--json"
                || argument.hasPrefix("-") && argument.contains("j") && argument.dropFirst().allSatisfy("jvh".contains)
        }
    }

    var limit: Duration { .seconds(timeout ?? Self.usualTimeout.flatMap(Double.init) ?? 5) }

    private static let usualTimeout = StateDirectory.environment["ELEMENTAL_TIMEOUT"].flatMap { $0.isEmpty ? nil : $0 }

    var logger: Logger {
        guard verbose else { return Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() }) }
        var logger = Logger(label: "elemental", factory: { StreamLogHandler(label: $0, stream: LogStream()) })
        logger.logLevel = .debug
        return logger
    }

    func validate() throws {
        func check(_ name: String, _ seconds: Double?, _ text: String) throws {
            guard let seconds, (0.001...86400).contains(seconds) else {
                throw ValidationError("\(name) takes seconds from 0.001 to 86400, not \(text)")
            }
        }
        if let timeout { return try check("--timeout", timeout, "\(timeout)") }
        if let text = Self.usualTimeout { try check("ELEMENTAL_TIMEOUT", Double(text), "'\(text)'") }
    }
}

/// Runs code that fails only after a mistake on the command line, and throws its error as such a mistake.
func checked<Result>(_ what: String = "", _ body: () throws -> Result) throws(ValidationError) -> Result {
    do { return try body() } catch { throw ValidationError("\(what)\(error)") }
}

/// Queues the lines of the log for standard error, with everything else that goes there.
private struct LogStream: TextOutputStream {
    func write(_ text: String) {
        // Each call has one event with its newline; any other newline came from outside and is escaped.
        let line = text.last == "\n" ? String(text.dropLast()) : text
        StandardStreams.shared.offer([Styled(line)], to: .error)
    }
}
