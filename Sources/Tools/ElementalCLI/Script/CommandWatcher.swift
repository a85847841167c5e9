import Support

/// Ends the commands if this program is killed: a shell that waits for the end of a pipe whose other end only this program
/// holds.
///
/// Without this, a command that writes nothing would go on. (`PR_SET_PDEATHSIG` depends on the thread that started the
/// command, and threads of a pool end.)
final class CommandWatcher: Sendable {
    static let shared = CommandWatcher()

    /// The shell reads lines with the numbers of process groups: `+` adds one and `-` removes it. It ignores the
    /// signals that end this program, because they may be meant for the whole session.
    private static let text = """
        trap '' HUP INT TERM
        while read -r sign group; do
            case $sign in
            +) groups="$groups $group " ;;
            *) groups="${groups%% $group *} ${groups#* $group }" ;;
            esac
        done
        for group in $groups; do kill -s KILL -- "-$group"; done
        """

    /// The end of the pipe; -1 if there is no watcher, because the system is short of processes or descriptors.
    private let pipe: Int32

    private init() {
        guard let ends = try? Descriptor.pipe() else {
            pipe = -1
            return
        }
        // Writing must not wait for a watcher that is stopped.
        _ = fcntl(ends.write, F_SETFL, O_NONBLOCK)
        let nowhere = Descriptor.open("/dev/null", O_WRONLY | O_CLOEXEC)
        _ = try? CommandProcess.spawn(Self.text, [ends.read, nowhere, nowhere])
        Descriptor.close(nowhere)
        Descriptor.close(ends.read)
        pipe = ends.write
    }

    func add(_ pid: pid_t) { tell("+ \(pid)\n") }

    func remove(_ pid: pid_t) { tell("- \(pid)\n") }

    private func tell(_ line: String) { _ = Array(line.utf8).withUnsafeBytes { Descriptor.write(pipe, $0) } }
}
