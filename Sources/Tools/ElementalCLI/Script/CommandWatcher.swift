import Support

/// Ends the commands if this program is killed: a shell that waits for the end of a pipe whose other end only this program
/// holds.
///
/// A command that writes nothing would not notice. (`PR_SET_PDEATHSIG` counts from the thread that started it, and threads
/// of a pool end.)
final class CommandWatcher: Sendable {
    static let shared = CommandWatcher()

    /// Of the numbers of process groups, `+` adds one and `-` removes it. What ends this program may be meant for its
    /// whole session.
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

    /// The end of the pipe; -1 if there is no watcher, since the system is short of processes or descriptors.
    private let pipe: Int32

    private init() {
        guard let ends = try? Descriptor.pipe() else {
            pipe = -1
            return
        }
        // Nobody waits for a watcher that is stopped.
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
