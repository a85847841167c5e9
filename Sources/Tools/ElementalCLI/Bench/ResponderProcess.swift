import Dispatch
import Support

/// A bench service on the loopback interface, as a second process of this same program.
///
/// It ends when it is told to, and also when this process ends, since its standard input then ends.
struct ResponderProcess: Sendable {
    /// The port on which it listens.
    let port: Int
    private let pid: pid_t
    /// The write end of its standard input.
    private let input: Int32

    /// How long it may take to shut down.
    private static let shutdownTime: Duration = .seconds(5)

    /// Starts it and waits until it listens.
    ///
    /// - Parameter options: options of `bench serve`.
    /// - Throws: ``CommandFailure`` if it does not; `CancellationError` if the task is cancelled before.
    static func start(_ options: [String]) async throws -> ResponderProcess {
        try await Blocking.run(abandoned: { $0.endNow() }) { try startNow(options) }
    }

    private static func startNow(_ options: [String]) throws -> ResponderProcess {
        let toChild = try Descriptor.pipe()
        let fromChild = try Descriptor.pipe()
        let spawned = Result { try spawn(options, input: toChild.read, output: fromChild.write) }
        close(toChild.read)
        close(fromChild.write)
        guard case .success(let pid) = spawned, let port = readPort(from: fromChild.read) else {
            close(toChild.write)
            close(fromChild.read)
            let pid = try spawned.get()
            end(pid)
            throw CommandFailure("failed", "the responder did not start; try it by hand: elemental bench serve")
        }
        drain(fromChild.read)
        return ResponderProcess(port: port, pid: pid, input: toChild.write)
    }

    /// Ends it and waits for its exit.
    func end() async { await Blocking.finish { endNow() } }

    private func endNow() {
        close(input)
        Self.end(pid)
    }

    /// Reads and drops what the responder writes until it ends: it would block on a full pipe.
    private static func drain(_ output: Int32) {
        DispatchQueue(label: "elemental.responder").async {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(output, &buffer, buffer.count)
                if count == 0 || (count < 0 && errno != EINTR) { break }
            }
            close(output)
        }
    }

    private static func end(_ pid: pid_t) {
        kill(pid, SIGTERM)
        let deadline = ContinuousClock.now + shutdownTime
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) == 0 {
            if ContinuousClock.now > deadline { kill(pid, SIGKILL) }
            var pause = timespec(tv_sec: 0, tv_nsec: 2_000_000)
            nanosleep(&pause, nil)
        }
    }

    private static func spawn(_ options: [String], input: Int32, output: Int32) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        let program = CommandLine.arguments[0]
        #else
        var actions = posix_spawn_file_actions_t()
        let program = "/proc/self/exe"
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        let words = ["elemental", "bench", "serve", "--json", "--responder"] + options
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let result = posix_spawnp(&pid, program, &actions, nil, &arguments, environ)
        guard result == 0 else {
            throw CommandFailure("failed", "the responder cannot be started: \(String(systemError: result))")
        }
        return pid
    }

    /// The port in the first line of output, `{"event":"listening",…,"port":N}`.
    private static func readPort(from descriptor: Int32) -> Int? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 4096, read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains("\"listening\""), let port = text.firstRange(of: "\"port\":") else { return nil }
        return Int(text[port.upperBound...].prefix { $0.isNumber })
    }
}
