import ArgumentParser

/// A command that writes to a ``Console`` and whose failures are reported: as text, with `--json` also as JSON, and with
/// the ``CommandStatus`` of their code.
///
/// Mistakes on the command line are found in `validate()`, whose `ValidationError` the parser reports with the command's
/// usage and the status 64.
protocol ReportingCommand: AsyncParsableCommand {
    var output: OutputOptions { get }

    /// Does the command's work. Its errors are reported.
    func perform(_ console: Console) async throws
}

extension ReportingCommand {
    func run() async throws {
        let console = Console(json: output.json)
        for word in OldSpelling.take() { await console.talk("elemental: \(word)") }
        do {
            try await perform(console)
            await console.streams.finish()
            if let failure = console.streams.failure { throw failure }
        } catch let error as Interrupted {
            await report(CommandFailure("cancelled", "interrupted before it was done"), console)
            throw ExitCode(error.status)
        } catch {
            let failure = CommandFailure(error)
            await report(failure, console)
            throw ExitCode(failure.status.rawValue)
        }
    }

    private func report(_ failure: CommandFailure, _ console: Console) async {
        for line in failure.lines { await console.talk(line) }
        if output.json { await console.emit(failure) }
    }
}
