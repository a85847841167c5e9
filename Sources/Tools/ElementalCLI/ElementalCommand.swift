import ArgumentParser

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The command line of the framework.
@main
struct ElementalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "elemental",
        abstract: "Controls devices on the local network, and makes this machine one of them.",
        discussion: """
            A service publishes typed elements: a lamp's brightness, a robot's speed. Clients find it, read its elements \
            and set them. Two terminals show it all:

              $ elemental publish robot --element 1:Speed:float=0 --element 2:Camera:bool
              $ elemental browse
              $ elemental describe robot
              $ elemental set robot Speed=0.5 Camera=on
              $ elemental watch robot

            TARGET is SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT. Results go to standard output, everything else to \
            standard error. The exit status is 0, 1 after a failure, 64 after a mistake on the command line, 130 after Ctrl-C \
            and 143 after SIGTERM where something was left to do.
            """,
        version: "1.0.0",
        subcommands: [
            PublishCommand.self, BrowseCommand.self, DescribeCommand.self, GetCommand.self, SetCommand.self,
            WatchCommand.self, ConnectCommand.self, C64Command.self, SignalRCommand.self, BenchCommand.self,
        ])

    static func main() async {
        StandardDescriptors.open()
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            await exit(.success)
        } catch let code as ExitCode {
            await exit(code)
        } catch {
            // Someone who reads JSON learns of a mistake on the command line as well.
            if exitCode(for: error) == .validationFailure, CommandLine.arguments.contains("--json") {
                await Console(json: true).emit(.error(message(for: error), code: "usage"))
            }
            await exit(telling: error)
        }
    }
}

extension ElementalCommand {
    /// Ends the process when all that was written has been read.
    private static func exit(_ code: ExitCode) async -> Never {
        let console = Console(json: false)
        await console.finish()
        if code == .success, let failure = console.failure {
            await console.emit(.error(failure.description, code: failure.code))
            await console.finish()
            exit(withError: ExitCode.failure)
        }
        exit(withError: code)
    }

    /// Ends the process with what the parser has to say: help and the version on standard output, mistakes on standard
    /// error.
    private static func exit(telling error: any Error) async -> Never {
        let code = exitCode(for: error)
        let stream: StandardStreams.Stream = code == .success ? .output : .error
        let text = fullMessage(for: error)
        if !text.isEmpty {
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                StandardStreams.shared.write(String(line), to: stream)
            }
        }
        await exit(code)
    }
}

/// A command of ours: tells its failures in words and, if asked, in JSON, and exits with 1 then.
protocol ReportingCommand: AsyncParsableCommand {
    var output: OutputOptions { get }

    /// Does the work; what it throws is reported.
    func perform(_ console: Console) async throws
}

extension ReportingCommand {
    func run() async throws {
        let console = Console(json: output.json)
        do {
            try FileDescriptors.expectEnough()
            try await perform(console)
            await console.finish()
            if let failure = console.failure { throw failure }
        } catch let error as ValidationError {
            throw error
        } catch let error as Interrupted {
            await tell(CommandFailure("cancelled", "interrupted before it was done"), console)
            throw ExitCode(error.status)
        } catch {
            await tell(CommandFailure(error), console)
            throw ExitCode.failure
        }
    }

    private func tell(_ failure: CommandFailure, _ console: Console) async {
        let event = Event.error(failure.description, code: failure.code)
        for line in event.lines { await console.talk(line) }
        if output.json { await console.emit(event) }
    }
}
