import ArgumentParser
import Foundation
import UnixSignals

@main
struct ClusterClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ClusterClient", abstract: "Shows a cluster, and has it run jobs.",
        subcommands: [TableCommand.self, RunCommand.self])
}

/// Runs a command until it is done or Ctrl-C.
func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm])
    let work = Task { try await body() }
    let interruption = Task { for await _ in signals { work.cancel() } }
    defer { interruption.cancel() }
    do { try await work.value } catch is CancellationError {}
}
