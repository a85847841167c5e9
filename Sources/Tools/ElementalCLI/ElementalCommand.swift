import ArgumentParser
import Dispatch
import NIOCore
import Support

/// The program's start. It is synchronous, because an asynchronous start fails where Swift cannot start threads.
@main
enum EntryPoint {
    static func main() {
        openStandardDescriptors()
        do {
            try ProcessLimits.check()
        } catch {
            for line in error.lines { write(line, to: STDERR_FILENO) }
            if OutputOptions.wantsJSON(CommandLine.arguments) { write(error.json.text, to: STDOUT_FILENO) }
            exit(1)
        }
        limitThreads()
        Task { await ElementalCommand.main() }
        dispatchMain()
    }

    /// Limits the threads to those that the command can use, whatever the number of cores. A measurement is not limited.
    private static func limitThreads() {
        let command = CommandLine.arguments.dropFirst().first
        guard command != BenchCommand.configuration.commandName else { return }
        let followers: [any ParsableCommand.Type] = [
            MQTTCommand.self, OSCCommand.self, SignalRCommand.self, DashboardCommand.self, MetricsCommand.self,
            RecordCommand.self,
        ]
        let hasMany = followers.contains { $0.configuration.commandName == command }
        NIOSingletons.groupLoopCountSuggestion = hasMany ? min(2, System.coreCount) : 1
        NIOSingletons.blockingPoolThreadCountSuggestion = 1
    }

    /// Opens standard input, output and error on /dev/null if the parent process has closed them. Otherwise a socket
    /// could get one of their numbers, and output would go to it.
    ///
    /// Standard output is opened for reading only, so that writing results fails: they must not be lost silently.
    private static func openStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // `open` returns the lowest free number, which is this one.
            _ = Descriptor.open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }

    private static func write(_ line: String, to descriptor: CInt) {
        var line = line + "\n"
        _ = line.withUTF8 { Descriptor.writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
    }
}

struct ElementalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "elemental",
        abstract: "Controls devices on the local network, and makes this machine one of them.",
        discussion: """
            A service publishes typed elements: a lamp's brightness, a robot's speed. Clients find the service, read its \
            elements and set them. Try it in two terminals:

              $ elemental publish robot --element 1:Speed:float=0 --element 2:Camera:bool
              $ elemental browse --once
              $ elemental describe robot
              $ elemental set robot Speed=0.5 Camera=on
              $ elemental watch robot

            TARGET is SERVICE, 'SERVICE/INSTANCE NAME', HOST:PORT or an alias. Results go to standard output, everything \
            else to standard error.

            The exit status is 0 after success, 1 after a failure, 2 if the service refuses the value or the client, 3 if \
            the service, host, element or file is not found, 4 if the client is not paired or not authorised, 5 after a \
            timeout, 6 if the service has another identity than the one that was paired, and 64 after a mistake on the \
            command line. A command that Ctrl-C or SIGTERM interrupts before it is done exits with 130 or 143.
            """,
        version: "1.0.0",
        subcommands: [
            PublishCommand.self, BrowseCommand.self, DescribeCommand.self, GetCommand.self, SetCommand.self,
            WatchCommand.self, HistoryCommand.self, ConnectCommand.self, PairCommand.self, OpenPairingCommand.self,
            TrustCommand.self,
            AliasCommand.self, SerialCommand.self, C64Command.self, SignalRCommand.self, MQTTCommand.self,
            OSCCommand.self, DashboardCommand.self, MetricsCommand.self,
            RecordCommand.self, ReplayCommand.self, ExportCommand.self, InfoCommand.self, DoctorCommand.self,
            BenchCommand.self,
        ])

    static func main() async {
        do {
            if let place = invalidArgument {
                throw ValidationError(
                    "argument \(place) is not UTF-8 text; give data as "
                        + "hexadecimal digits, or as NAME=@FILE")
            }
            let arguments = Array(CommandLine.arguments.dropFirst())
            if await Completion.answer(arguments) { await exit(.success) }
            var command = try parsed(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            await exit(.success)
        } catch let code as ExitCode {
            await exit(code)
        } catch {
            // A program that reads JSON receives mistakes on the command line, too.
            if OutputOptions.wantsJSON(CommandLine.arguments), exitCode(for: error) == .validationFailure {
                await Console(json: true).emit(CommandFailure("usage", message(for: error)))
            }
            await exit(telling: error)
        }
    }
}

extension ElementalCommand {
    /// The place of the first argument that is not valid UTF-8. Swift replaces invalid bytes by other characters.
    private static var invalidArgument: Int? {
        (1..<max(1, Int(CommandLine.argc))).first { place in
            CommandLine.unsafeArgv[place].map { String(validatingCString: $0) == nil } ?? false
        }
    }

    /// Ends the process once everything has been written.
    private static func exit(_ code: ExitCode) async -> Never {
        let streams = StandardStreams.shared
        await streams.finish()
        if code == .success, let failure = streams.failure {
            await Console(json: false).emit(failure)
            await streams.finish()
            exit(withError: ExitCode.failure)
        }
        exit(withError: code)
    }

    /// Ends the process with the parser's message: help and the version on standard output, mistakes on standard error.
    private static func exit(telling error: any Error) async -> Never {
        let code = exitCode(for: error)
        let stream: StandardStreams.Stream = code == .success ? .output : .error
        let text = fullMessage(for: error)
        if !text.isEmpty {
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                StandardStreams.shared.write([Styled(String(line))], to: stream)
            }
        }
        await exit(code)
    }
}

extension ElementalCommand {
    /// The prefix of every error message.
    static var _errorPrefix: String { "elemental: " }

    static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        try checkNames(of: arguments)
        return try parseAsRoot(arguments)
    }

    /// Throws if a command's name is unknown. The parser calls it an unexpected argument, and `help` ignores it.
    private static func checkNames(of arguments: [String]) throws {
        let helps = arguments.first == helpName
        var path: [any ParsableCommand.Type] = [ElementalCommand.self]
        for (place, word) in arguments.enumerated().dropFirst(helps ? 1 : 0) where !word.hasPrefix("-") {
            guard let command = path.last else { return }
            let commands = command.configuration.subcommands
            if let next = commands.first(where: { $0.names.contains(word) }) {
                path.append(next)
                continue
            }
            guard helps || !commands.isEmpty && isUnexpected(place, in: arguments) else { return }
            throw ValidationError(
                CommandFailure.unknownName(
                    word, "command",
                    among: commands.flatMap { $0.names } + (path.count == 1 ? [helpName] : []),
                    where: "'\(path.map { $0._commandName }.joined(separator: " "))'"
                ).description)
        }
    }

    private static let helpName = "help"

    /// Whether that argument is the first mistake. A command with a default subcommand may take words other than names.
    private static func isUnexpected(_ place: Int, in arguments: [String]) -> Bool {
        accepts(Array(arguments[..<place])) && !accepts(Array(arguments[...place]))
    }

    private static func accepts(_ arguments: [String]) -> Bool { (try? parseAsRoot(arguments)) != nil }
}

extension ParsableCommand {
    fileprivate static var names: [String] { [_commandName] + configuration.aliases }
}
