import Foundation
import TestSupport
import Testing

/// Runs the commands of a block as its reader does: one after another, with long-running ones in terminals of their own
/// until the end of the block.
final class ShellSession {
    private let folder: String
    private let environment: [String: String]
    private let hub: String?
    /// The ports of this session, by those on the page.
    private var ports: [Substring: Int] = [:]
    private var running: [(command: ShellCommand, process: ChildProcess)] = []

    /// The commands run in a folder, which is their `/tmp` too, and find this hub in place of those on the pages.
    init(in folder: String, environment: [String: String], hub: String?) throws {
        self.folder = folder
        self.hub = hub
        let built = URL(filePath: try BuiltProduct.path(of: "elemental")).deletingLastPathComponent().path
        let path = "\(built):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        self.environment = environment.merging(["PATH": path]) { $1 }
    }

    /// A command as it is run here: with this test's hub, ports and folder.
    private func adapted(_ command: String) throws -> String {
        var text = command.replacing("/tmp/", with: folder + "/")
        if let hub { text = text.replacing(/http:\/\/localhost:5000\/\w+/, with: hub) }
        for match in command.matches(of: /127\.0\.0\.1:(\d+)/) where hub == nil {
            let port = try ports[match.1] ?? PortLease.port()
            ports[match.1] = port
            text = text.replacing(match.0, with: "127.0.0.1:\(port)")
        }
        // Measured in full a page takes more of the processor than all others: 10,000 round trips, seconds at full speed.
        let amounts = ["latency": "--count 100", "throughput": "--count 100", "fanout": "--seconds 0.2"]
        for (measurement, amount) in amounts where !Depth.isAll {
            text = text.replacing("elemental bench \(measurement)", with: "elemental bench \(measurement) \(amount)")
        }
        return text
    }

    /// Runs a command. If it ends, it has to succeed and to print the output on the page, if there is any.
    func type(_ command: ShellCommand) async throws {
        var text = try adapted(command.text)
        // What the shell would put into the background is a process of the session already.
        if text.hasSuffix("&") { text.removeLast() }
        // In the shell's own place, so that a signal's status is the command's.
        if !text.contains("|") { text = "exec " + text }
        // In a process group of its own, so that all parts of a pipeline can be ended.
        let process = try ChildProcess(
            "setsid", ["bash", "-c", #"cd "$0" && exec bash -o pipefail -c "$1""#, folder, text],
            environment: environment)
        running.append((command, process))
        if command.runsOn {
            try await eventually("\(text)\n\(process.transcript)") {
                let lines = process.lines(of: .output) + process.lines(of: .error)
                guard process.isRunning else { throw TestSupportError("it has ended: \(process.transcript)") }
                return command.publishes
                    ? lines.contains { $0.hasPrefix("published as ") } || text.contains("--unlisted") : !lines.isEmpty
            }
            return
        }
        process.closeInput()
        // `bench latency` makes 10,000 round trips, each of which waits for the processor twice on a busy machine.
        let status = try await process.waitForExit(within: Patience.wait * 5)
        running.removeLast()
        #expect(status == .exited(0), "\(process.transcript)")
        guard !command.shown.isEmpty else { return }
        var rest = command.shown
        for line in process.lines(of: .output) {
            let place = rest.firstIndex { ShellCommand.isSame($0, line) }
            #expect(place != nil, "the page does not show '\(line)' of \(process.transcript)")
            if let place { rest.remove(at: place) }
        }
        // What it did not print itself comes from a command in the background.
        guard let background = running.lastIndex(where: { $0.command.text.hasSuffix("&") }) else {
            #expect(rest.isEmpty, "the page shows\n\(rest.joined(separator: "\n"))\nbut \(process.transcript)")
            return
        }
        running[background].command.shown += rest
    }

    /// Waits until the running commands have printed the output on the page, and stops them gracefully.
    func finish() async throws {
        for (command, process) in running {
            var rest = command.shown[...]
            var taken = [0, 0]
            try await eventually("'\(rest.first ?? "")' of \(process.transcript)") {
                let streams = [process.lines(of: .output), process.lines(of: .error)]
                while let wanted = rest.first {
                    guard
                        let stream = streams.indices.first(where: { stream in
                            streams[stream][taken[stream]...].contains { ShellCommand.isSame(wanted, $0) }
                        }),
                        let place = streams[stream][taken[stream]...].firstIndex(where: {
                            ShellCommand.isSame(wanted, $0)
                        })
                    else { return false }
                    taken[stream] = place + 1
                    rest.removeFirst()
                }
                return true
            }
        }
        while let (command, process) = running.popLast() {
            kill(-process.processID, SIGTERM)
            let status = try await process.waitForExit()
            // A pipeline's status is that of the shell, which the signal ends.
            if !command.text.contains("|") { #expect(status == .exited(0), "\(process.transcript)") }
        }
    }

    func abandon() async {
        for (_, process) in running {
            kill(-process.processID, SIGKILL)
            await process.end()
        }
    }
}
