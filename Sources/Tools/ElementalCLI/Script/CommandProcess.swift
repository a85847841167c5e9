import CLinux
import Support

/// A shell command that runs as a child process in a process group of its own.
///
/// Its command line contains only the command's text. Values go to its standard input.
final class CommandProcess: Sendable {
    enum End: Error, Equatable {
        case exited(Int32)
        case signalled(Int32)
        /// It took too long and was killed.
        case timedOut
        /// It wrote more than is wanted and was killed.
        case wroteTooMuch
        /// It was killed because its work is no longer wanted.
        case stopped
        /// It could not be started.
        case failed(String)

        /// Why it failed; `nil` if it did not.
        var failure: String? {
            switch self {
            case .exited(0), .stopped: nil
            case .exited(127): "the command was not found (status 127)"
            case .exited(let status): "it ended with status \(status)"
            case .signalled(let signal): "signal \(signal) ended it"
            case .timedOut: "it took too long and was ended"
            case .wroteTooMuch: "it wrote too much and was ended"
            case .failed(let reason): reason
            }
        }
    }

    private struct State {
        var pid: pid_t?
        var isStopped = false
        /// The pipe to its standard input while it runs, if its input stays open.
        var input: Int32?
        var isOver = false
    }

    private let text: String
    private let keepsInput: Bool
    private let state = Locked(State())

    /// How long remaining processes of a command may keep its output open after the shell has ended.
    private static let lingering = Duration.milliseconds(200)
    /// How often to check whether the shell has ended, in milliseconds, if the system does not report it.
    private static let pollTime: Int32 = 20
    /// How long to wait for a command that does not read its input, or has not started.
    private static let writingPause = Duration.milliseconds(5)
    /// The maximum length of a piece of output, in bytes.
    static let pieceByteCount = 16384
    /// Held from the creation of the pipes until the child has its ends. Another child that starts in between would
    /// inherit them.
    private static let starting = Lock()

    /// - Parameter keepsInput: whether its input stays open for ``write(_:within:)``.
    init(_ text: String, keepsInput: Bool = false) {
        self.text = text
        self.keepsInput = keepsInput
    }

    /// Ends it and everything it has started.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            if let pid = state.pid { kill(-pid, SIGKILL) }
        }
    }

    /// Writes to the input of a command that keeps it open.
    ///
    /// - Returns: whether all of it was written before the command ended, the time was up or the task was cancelled.
    func write(_ bytes: [UInt8], within time: Duration) async -> Bool {
        let deadline = ContinuousClock.now + time
        var rest = bytes[...]
        while true {
            let isOver = state.withLock { state in
                if let input = state.input {
                    let count = rest.withUnsafeBytes { Descriptor.write(input, $0) }
                    if count >= 0 { rest = rest.dropFirst(count) }
                    return count < 0 && errno != EAGAIN && errno != EINTR
                }
                return state.isOver
            }
            if rest.isEmpty { return true }
            guard !isOver, .now < deadline, !Task.isCancelled else { return false }
            await Delay.wait(Self.writingPause)
        }
    }

    /// Runs it to its end. Blocks.
    ///
    /// - Parameters:
    ///   - timeout: how long it may take; `nil` for no limit.
    ///   - take: receives its standard output in pieces, and returns whether to continue.
    func run(
        input: [UInt8], timeout: Duration?, onError: (UnsafeRawBufferPointer) -> Void,
        _ take: (UnsafeRawBufferPointer) -> Bool
    ) -> End {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        let pipes: Pipes
        let pid: pid_t
        do {
            (pid, pipes) = try start()
        } catch {
            state.withLock { $0.isOver = true }
            return error as? End ?? .failed(CommandFailure(error).description)
        }
        var rest = input[...]
        var open = (input: true, output: true, errors: true)
        func closeInput() {
            guard open.input else { return }
            open.input = false
            state.withLock { ($0.input, $0.isOver) = (nil, true) }
            Descriptor.close(pipes.input.write)
        }
        let ending = clinux_open_process(pid)
        defer {
            closeInput()
            for descriptor in [pipes.output.read, pipes.errors.read, ending] where descriptor >= 0 {
                Descriptor.close(descriptor)
            }
        }
        for descriptor in pipes.ownEnds { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        if keepsInput { state.withLock { $0.input = pipes.input.write } } else if rest.isEmpty { closeInput() }
        var buffer = [UInt8](repeating: 0, count: Self.pieceByteCount)
        var endTime: ContinuousClock.Instant?
        while true {
            if endTime == nil, hasEnded(pid) { endTime = .now }
            let isOpen = open.output || open.errors
            if let endTime, !isOpen || .now - endTime > Self.lingering {
                let end = Self.end(finish(pid))
                return state.withLock({ $0.isStopped }) && end == .signalled(SIGKILL) ? .stopped : end
            }
            if let deadline, .now > deadline {
                _ = finish(pid)
                return .timedOut
            }
            var entries = [
                pollfd(fd: open.output ? pipes.output.read : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: open.errors ? pipes.errors.read : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: open.input && !keepsInput ? pipes.input.write : -1, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: endTime == nil ? ending : -1, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(
                &entries, nfds_t(entries.count), Self.waitingTime(until: deadline, since: endTime, isTold: ending >= 0))
            // Standard error first, because it explains a failure.
            if entries[1].revents != 0 { open.errors = Self.read(pipes.errors.read, &buffer) { onError($0) } }
            var wantsMore = true
            if entries[0].revents != 0 { open.output = Self.read(pipes.output.read, &buffer) { wantsMore = take($0) } }
            guard wantsMore else {
                _ = finish(pid)
                return .wroteTooMuch
            }
            if entries[2].revents != 0 {
                let count = rest.withUnsafeBytes { Descriptor.write(pipes.input.write, $0) }
                if count >= 0 { rest = rest.dropFirst(count) }
                // A command need not read its input.
                if rest.isEmpty || (count < 0 && errno != EAGAIN && errno != EINTR) { closeInput() }
            }
        }
    }

    /// The timeout of the next poll in milliseconds; negative for none.
    ///
    /// - Parameters:
    ///   - endTime: when the shell ended; `nil` while it runs.
    ///   - isTold: whether the system reports the end of the shell.
    private static func waitingTime(
        until deadline: ContinuousClock.Instant?, since endTime: ContinuousClock.Instant?, isTold: Bool
    ) -> Int32 {
        let limit = [deadline, endTime.map { $0 + lingering }].compactMap { $0 }.min()
        // Rounded up, so that the limit has passed by then.
        let time = limit.map { Int32(clamping: max(0, ($0 - .now).nanoseconds) / 1_000_000 + 1) }
        if endTime == nil, !isTold { return min(time ?? pollTime, pollTime) }
        return time ?? -1
    }

    /// Reads a piece from a pipe, and returns whether more may come.
    private static func read(
        _ descriptor: Int32, _ buffer: inout [UInt8], _ take: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        let count = buffer.withUnsafeMutableBytes { Descriptor.read(descriptor, $0) }
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        buffer.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        return true
    }

    private struct Pipes {
        let input, output, errors: (read: Int32, write: Int32)

        init() throws {
            var made: [(read: Int32, write: Int32)] = []
            do {
                for _ in 0..<3 { made.append(try Descriptor.pipe()) }
            } catch {
                for end in made.flatMap({ [$0.read, $0.write] }) { Descriptor.close(end) }
                throw error
            }
            (input, output, errors) = (made[0], made[1], made[2])
        }

        var childsEnds: [Int32] { [input.read, output.write, errors.write] }
        var ownEnds: [Int32] { [input.write, output.read, errors.read] }
    }

    private func start() throws -> (pid_t, Pipes) {
        try Self.starting.withLock {
            let pipes = try Pipes()
            defer { pipes.childsEnds.forEach(Descriptor.close) }
            // The watcher must exist before the command. Otherwise the command would go on if this program is killed in
            // between.
            let watcher = CommandWatcher.shared
            do {
                let pid = try state.withLock { state in
                    if state.isStopped { throw End.stopped }
                    let pid = try Self.spawn(text, pipes.childsEnds)
                    state.pid = pid
                    watcher.add(pid)
                    return pid
                }
                return (pid, pipes)
            } catch {
                pipes.ownEnds.forEach(Descriptor.close)
                throw error
            }
        }
    }

    /// Starts a shell with this standard input, output and error, in a process group of its own.
    @discardableResult
    static func spawn(_ text: String, _ descriptors: [Int32]) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        // Nothing else is inherited: a command that outlives this program would keep its port, and a client's connection.
        #if canImport(Darwin)
        let closesOthers = POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
        let closesOthers: Int32 = 0
        // Descriptors that are opened meanwhile get the lowest free numbers, some above the last. Closing one that is
        // not open is not an error. (Swift does not see posix_spawn_file_actions_addclosefrom_np.)
        let last = FileContent.names(in: "/proc/self/fd").compactMap { Int32($0) }.max() ?? 255
        for descriptor in 3...max(3, last) + 64 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        #endif
        // The child starts with the default actions of all signals, even those that this program ignores or handles.
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | closesOthers))
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(text), nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, "/bin/sh", &actions, &attributes, &arguments, environ)
        guard result == 0 else { throw End.failed("it cannot be started: \(String(systemError: result))") }
        return pid
    }

    /// The child's status once it has ended. From then on another process may have its number.
    private func reap(_ pid: pid_t) -> Int32? {
        state.withLock { state in
            var status: Int32 = 0
            guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
            state.pid = nil
            return status
        }
    }

    /// Whether it has ended. It and its group keep their number until ``reap(_:)``.
    private func hasEnded(_ pid: pid_t) -> Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information.si_signo != 0
    }

    /// Kills the remaining processes of the command, so that they keep nothing open, and returns its status.
    private func finish(_ pid: pid_t) -> Int32 {
        kill(-pid, SIGKILL)
        CommandWatcher.shared.remove(pid)
        while true {
            if let status = reap(pid) { return status }
            var pause = timespec(tv_sec: 0, tv_nsec: 2_000_000)
            nanosleep(&pause, nil)
        }
    }

    private static func end(_ status: Int32) -> End {
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }
}
