import Elemental
import Support

/// A bench service on the loopback interface, as a second process of this same program.
///
/// ``end()`` ends it. It also ends when this process ends, because its standard input then ends.
struct ResponderProcess: Sendable {
    let port: Int
    private let process: CommandProcess
    private let running: Task<Void, Never>

    /// Starts it and waits until it listens.
    ///
    /// - Parameter options: options of `bench serve`.
    /// - Throws: ``CommandFailure`` if it does not; `CancellationError` if the task is cancelled before.
    static func start(_ options: [String]) async throws -> ResponderProcess {
        #if canImport(Darwin)
        let program = CommandLine.arguments[0]
        #else
        let program = "/proc/\(getpid())/exe"
        #endif
        let words = [program, "bench", "serve", "--json", "--responder"] + options
        let process = CommandProcess("exec " + words.map(\.shellArgument).joined(separator: " "), keepsInput: true)
        let port = Outcome<Int?>()
        let running = Task {
            await Blocking.finish {
                var output: [UInt8] = []
                func tell(_ line: String) { StandardStreams.shared.offer([Styled(line)], to: .error) }
                let end = process.run(input: [], timeout: nil) { errors in
                    for line in String(decoding: errors, as: UTF8.self).split(separator: "\n") { tell(String(line)) }
                } _: { bytes in
                    // Output after the port is read, too: the responder would block on a full pipe.
                    if output.count < 4096 { output += bytes }
                    if output.contains(UInt8(ascii: "\n")) { port.resolve(Self.port(in: output)) }
                    return true
                }
                if let failure = end.failure { tell("the responder failed: \(failure)") }
                port.resolve(nil)
            }
        }
        let known = await port.value()
        if let number = known ?? nil { return ResponderProcess(port: number, process: process, running: running) }
        process.stop()
        await running.value
        try Task.checkCancellation()
        throw CommandFailure("failed", "the responder did not start; try it by hand: elemental bench serve")
    }

    /// Ends it and waits for its exit.
    func end() async {
        process.stop()
        await running.value
    }

    /// The port in the first line of output, `{"event":"listening",…,"port":N}`.
    private static func port(in output: [UInt8]) -> Int? {
        let text = String(decoding: output, as: UTF8.self)
        guard text.contains("\"listening\""), let port = text.firstRange(of: "\"port\":") else { return nil }
        return Int(text[port.upperBound...].prefix { $0.isNumber })
    }
}
