import ArgumentParser
import ClusterElements
import ClusterMembers
import Elemental
import Foundation
import SampleSecurity

struct TableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "table", abstract: "Shows the nodes, live, until Ctrl-C.")

    @Option(help: "Ends as soon as so many nodes are there that agree on who coordinates.")
    var until: Int?

    @OptionGroup var security: ConnectingOptions

    func run() async throws {
        let members = Members(as: "ClusterClient table", options: try security.connectOptions)
        try await untilInterrupted {
            async let _ = members.run { _ in }
            while true {
                let nodes = members.present
                show(nodes)
                let roles = nodes.map { $0.value(of: Cluster.role) ?? "" }
                if roles.count == until, roles == ["coordinator"] + roles.dropFirst().map({ _ in "worker" }) { return }
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    private func show(_ nodes: [ElementalDevice]) {
        var lines = [row("node", "role", "load", "memory", "temperature", "jobs", "commands")]
        for node in nodes {
            func whole(_ element: Element<Float>) -> String {
                node.value(of: element).map { "\(Int(max(-999, min($0, 999)))) \(element.unit)" } ?? "-"
            }
            lines.append(
                row(
                    node.name.printable, (node.value(of: Cluster.role) ?? "-").printable, whole(Cluster.load),
                    whole(Cluster.memory), whole(Cluster.temperature),
                    "\(node.value(of: Cluster.busy) ?? 0) of \(node.value(of: Cluster.slots) ?? 0)",
                    (node.value(of: Cluster.commands) ?? "").printable))
        }
        // On a terminal each table takes the place of the one before.
        print((isatty(STDOUT_FILENO) == 1 ? "\u{1B}[H\u{1B}[J" : "") + lines.joined(separator: "\n"))
        fflush(nil)
    }

    private func row(_ columns: String...) -> String {
        zip(columns, [20, 12, 7, 7, 12, 10, 0])
            .map { $0 + String(repeating: " ", count: max(1, $1 - $0.count)) }
            .joined()
    }
}
