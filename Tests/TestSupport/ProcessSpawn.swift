import Foundation
import Support

/// Starts processes with only the three standard descriptors.
///
/// posix_spawn instead of fork, because a test has many threads. Pipes are made and processes started one at a time, and
/// every other descriptor is closed in the child, so that no child holds another's pipe open, or a socket that a
/// library in the test made.
///
/// swift-subprocess, 1.0.2, cannot give a child a controlling terminal and ends it with a closure; a process takes 1.0 to
/// 1.1 ms with it rather than 0.8, and it adds 11 s to the first build on 2 cores, swift-system included.
package struct ProcessSpawn {
    let processID: pid_t
    /// The test's ends of the pipes.
    let input: Int32
    let output: Int32
    let errorOutput: Int32

    private static let oneAtATime = Lock()

    /// To write to a process that has ended is an error of the call. It would end the tests, until SwiftNIO has opened a
    /// socket in them.
    private static let ignoreBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    init(executable: String, arguments: [String], environment: [String: String]) throws {
        Self.ignoreBrokenPipes
        // Elemental's commands are as patient as the tests, unless a test says otherwise.
        let environment = environment.merging(["ELEMENTAL_TIMEOUT": Patience.seconds]) { given, _ in given }
        self = try Self.oneAtATime.withLock { try Self(alone: executable, arguments, environment) }
    }

    /// Whether a program is found along PATH.
    package static func isOnPath(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// Returns when every process that was being started runs its own program.
    static func waitForChildrenThatBegin() {
        // posix_spawn returns after that.
        oneAtATime.withLock {}
    }

    /// Runs a process to its end, on the calling thread, and ignores what it prints: for conditions of tests, which are
    /// found out before any test runs.
    package static func run(_ executable: String, _ arguments: [String]) throws -> ChildProcess.ExitStatus {
        let process = try ProcessSpawn(
            executable: executable, arguments: arguments, environment: ProcessInfo.processInfo.environment)
        close(process.input)
        // They print less than a pipe holds.
        let status = ChildProcess.ExitStatus(waitingFor: process.processID)
        close(process.output)
        close(process.errorOutput)
        return status
    }

    private init(alone executable: String, _ arguments: [String], _ environment: [String: String]) throws {
        let pipes = try (0..<3).map { _ in try Self.makePipe() }
        var processID: pid_t = 0
        let code = Self.spawn(
            &processID, executable, arguments, environment,
            descriptors: [pipes[0].read, pipes[1].write, pipes[2].write])
        guard code == 0 else {
            for pipe in pipes { _ = (close(pipe.read), close(pipe.write)) }
            throw TestSupportError("cannot start \(executable): \(String(systemError: code))")
        }
        close(pipes[0].read)
        close(pipes[1].write)
        close(pipes[2].write)
        self.processID = processID
        input = pipes[0].write
        output = pipes[1].read
        errorOutput = pipes[2].read
    }

    private static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestSupportError("no more pipes: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Starts a process whose standard descriptors are its controlling terminal.
    ///
    /// - Returns: its id.
    static func inTerminal(
        _ terminal: String, _ executable: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> pid_t {
        var processID: pid_t = 0
        let code = oneAtATime.withLock {
            spawn(&processID, executable, arguments, environment, descriptors: [], terminal: terminal)
        }
        guard code == 0 else { throw TestSupportError("cannot start \(executable): \(String(systemError: code))") }
        return processID
    }

    private static func spawn(
        _ processID: inout pid_t, _ executable: String, _ arguments: [String], _ environment: [String: String],
        descriptors: [Int32], terminal: String? = nil
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (target, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        if let terminal {
            // The first one that the leader of a new session opens becomes its controlling terminal.
            posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
        }
        // A test run may ignore or block signals; its children are to start like those of a shell.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        // POSIX_SPAWN_SETSID of glibc's spawn.h, which Swift does not import.
        if terminal != nil { flags |= 0x80 }
        // (posix_spawn_file_actions_addclosefrom_np is not visible from Swift.) Those that are opened in the meantime get the
        // lowest free numbers, some beyond the last. The system would close them too, but not before posix_spawn returns.
        // To close one that is not open is no error.
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let last = open.compactMap { Int32($0) }.max() ?? 2
        for descriptor in 3...max(3, last) + 64 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var argv = ([executable] + arguments).map { strdup($0) }
        var envp = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { (argv + envp).forEach { free($0) } }
        argv.append(nil)
        envp.append(nil)
        return posix_spawnp(&processID, executable, &actions, &attributes, argv, envp)
    }
}
