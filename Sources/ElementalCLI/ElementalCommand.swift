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
            standard error. The exit status is 0, 1 after a failure, 64 after a mistake on the command line.
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
        } catch let code as ExitCode {
            exit(withError: code)
        } catch {
            // Someone who reads JSON learns of a mistake on the command line as well.
            if exitCode(for: error) == .validationFailure, CommandLine.arguments.contains("--json") {
                Console(json: true).emit(.error(message(for: error), code: "usage"))
            }
            exit(withError: error)
        }
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
            if let failure = console.failure { throw failure }
        } catch let error as ValidationError {
            throw error
        } catch {
            let failure = CommandFailure(error)
            let event = Event.error(failure.description, code: failure.code)
            for line in event.lines { console.talk(line) }
            if output.json { console.emit(event) }
            throw ExitCode.failure
        }
    }
}
