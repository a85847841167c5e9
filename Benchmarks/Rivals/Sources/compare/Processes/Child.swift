import Foundation

/// A child process: its standard input is a pipe, and its lines of output are read as they arrive.
///
/// Most children exit at the end of their standard input, so that none stays behind even if this process is killed.
/// ``end()`` kills the others.
final class Child {
    let command: Command
    let pid: pid_t
    let startTime: ContinuousClock.Instant

    private var input: Int32?
    private let errors: Int32
    private let output: LineReader
    private var status: Int32?

    init(_ command: Command) throws {
        self.command = command
        let input = try Self.pipe()
        let output = try Self.pipe()
        let errors = try Self.pipe()
        // Error output beyond the pipe's capacity is dropped, so that nobody waits.
        _ = fcntl(errors.write, F_SETFL, O_NONBLOCK)
        defer {
            close(input.read)
            close(output.write)
            close(errors.write)
        }
        startTime = .now
        do {
            pid = try Self.spawn(command, [input.read, output.write, errors.write])
        } catch {
            for descriptor in [input.write, output.read, errors.read] { close(descriptor) }
            throw error
        }
        LiveChildren.shared.add(pid)
        self.input = input.write
        self.errors = errors.read
        self.output = LineReader(output.read)
    }

    deinit {
        end()
        close(errors)
    }

    /// The next line of output, with its time of arrival.
    func line(within seconds: Double) throws -> LineReader.Line {
        switch output.next(within: seconds) {
        case .line(let line): return line
        case .end: throw CompareError("\(command.line): \(complaint() ?? "ended without an answer")")
        case .timeout: throw CompareError("\(command.line): no answer within \(Int(seconds)) seconds")
        }
    }

    /// The next line of output that is a JSON object and has this field.
    func report(having field: String, within seconds: Double) throws -> Report {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let line = try line(within: max(0, (deadline - .now).seconds))
            if let report = Report(line.text), report.has(field) { return report }
        }
    }

    /// The next line of output with this prefix.
    func line(startingWith prefix: String, within seconds: Double) throws -> LineReader.Line {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let line = try line(within: max(0, (deadline - .now).seconds))
            if line.text.hasPrefix(prefix) { return line }
        }
    }

    /// Closes its standard input, and makes sure that the process ends. Does nothing if it has ended.
    func end() {
        if let input { close(input) }
        input = nil
        for (patience, signal) in [(5.0, SIGTERM), (3.0, SIGKILL), (3.0, SIGKILL)] {
            if waitForEnd(within: patience) { return }
            kill(pid, signal)
        }
    }

    /// Sends SIGTERM first, for a process that does not exit at the end of its standard input.
    func terminate() {
        if status == nil { kill(pid, SIGTERM) }
        end()
    }

    /// The last line of the process's error output.
    func complaint() -> String? {
        _ = fcntl(errors, F_SETFL, O_NONBLOCK)
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(errors, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("Error:") }.map(String.init) ?? lines.last.map(String.init)
    }

    private func waitForEnd(within seconds: Double) -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while status == nil {
            status = LiveChildren.shared.reap(pid)
            if status != nil { break }
            if .now >= deadline { return false }
            usleep(1000)
        }
        return true
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var descriptors: [Int32] = [0, 0]
        guard Foundation.pipe(&descriptors) == 0 else {
            throw CompareError("no pipe: \(String(cString: strerror(errno)))")
        }
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return (descriptors[0], descriptors[1])
    }

    /// Starts the command with these descriptors as its 0, 1 and 2, in a process group of its own: a Ctrl-C reaches
    /// this process only, which then ends the others.
    private static func spawn(_ command: Command, _ descriptors: [Int32]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (index, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(index))
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This process blocks termination signals; its children must not.
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

        var environment = ProcessInfo.processInfo.environment
        environment.merge(command.environment) { $1 }
        let arguments = CStrings([command.program] + command.arguments)
        let variables = CStrings(environment.map { "\($0)=\($1)" })
        var pid: pid_t = 0
        let error = posix_spawnp(
            &pid, command.program, &actions, &attributes, arguments.pointers, variables.pointers)
        guard error == 0 else {
            throw CompareError("cannot start \(command.program): \(String(cString: strerror(error)))")
        }
        return pid
    }
}

/// A null-terminated array of C strings.
private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) { pointers = strings.map { strdup($0) } + [nil] }

    deinit { for pointer in pointers { free(pointer) } }
}
