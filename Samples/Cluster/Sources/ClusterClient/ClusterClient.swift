import ArgumentParser
import Foundation

@main
struct ClusterClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ClusterClient", abstract: "Shows a cluster, and has it run jobs.",
        subcommands: [TableCommand.self, RunCommand.self])
}
