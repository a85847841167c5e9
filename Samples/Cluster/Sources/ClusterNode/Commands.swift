import ClusterElements
import Foundation

/// Runs programs that the node's owner allows, each for a minute at most.
struct Commands: Sendable {
    /// The longest input and output, in bytes: less than a pipe holds (pipe(7)), so that writing the input waits for nobody.
    private static let longestText = 32 * 1024

    /// By name a program's path and its arguments. Nothing of them comes from the network.
    private(set) var allowed: [String: [String]] = [:]

    /// - Parameter texts: of the form `name=/path/of/program argument…`.
    /// - Returns: `nil` if one of them has another form.
    init?(_ texts: [String]) {
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[1].hasPrefix("/") else { return nil }
            allowed[String(parts[0])] = parts[1].split(separator: " ").map(String.init)
        }
    }

    func run(_ name: String, input: String) async -> Report.State {
        guard let words = allowed[name] else { return .failed("this node runs no command of that name") }
        guard input.utf8.count <= Self.longestText else { return .failed("the input is too long") }
        return await withCheckedContinuation { ended in
            // Reading and waiting take a thread for each command that runs: as many as the node has slots.
            Thread.detachNewThread { ended.resume(returning: Self.run(words, Data(input.utf8))) }
        }
    }

    private static func run(_ words: [String], _ input: Data) -> Report.State {
        let (process, incoming, outgoing) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardInput = incoming
        process.standardOutput = outgoing
        // The command leads a process group, so what it has started ends with it.
        let end: @Sendable () -> Void = { if process.isRunning { kill(-process.processIdentifier, SIGKILL) } }
        do {
            try incoming.fileHandleForWriting.write(contentsOf: input)
            try process.run()
            try incoming.fileHandleForWriting.close()
            DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: end)
            var output = Data()
            while output.count <= longestText,
                let part = try outgoing.fileHandleForReading.read(upToCount: longestText), !part.isEmpty
            {
                output += part
            }
            if output.count > longestText { end() }
            process.waitUntilExit()
            let status = process.terminationStatus
            return status == 0 ? .done(String(decoding: output, as: UTF8.self)) : .failed("it ended with \(status)")
        } catch {
            return .failed("it cannot be run: \(error.localizedDescription)")
        }
    }
}
