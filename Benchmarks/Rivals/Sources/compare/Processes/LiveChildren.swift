import Foundation
import Synchronization

/// The processes that have been started and not yet reaped, so that Ctrl-C can end them.
final class LiveChildren: Sendable {
    static let shared = LiveChildren()

    private let pids = Mutex<Set<pid_t>>([])

    func add(_ pid: pid_t) { pids.withLock { _ = $0.insert(pid) } }

    /// The exit status if the process has ended. The process is removed then, because its ID may be reused.
    func reap(_ pid: pid_t) -> Int32? {
        pids.withLock { pids in
            var status: Int32 = 0
            guard waitpid(pid, &status, WNOHANG) != 0 else { return nil }
            pids.remove(pid)
            return status
        }
    }

    /// Ends all of them and then this process, on SIGINT, SIGTERM and SIGHUP.
    ///
    /// Call it before other threads start, so that they inherit the blocked signals.
    func endOnSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Thread.detachNewThread { [self, signals] in
            var signals = signals
            var signal: Int32 = 0
            sigwait(&signals, &signal)
            endAll()
            TemporaryFolder.remove()
            FileHandle.standardError.write(Data("\ncompare: ended by a signal\n".utf8))
            _exit(128 + signal)
        }
    }

    private func endAll() {
        for signal in [SIGTERM, SIGKILL] {
            for pid in pids.withLock({ $0 }) { kill(pid, signal) }
            for _ in 0..<200 where !pids.withLock({ $0.isEmpty }) {
                for pid in pids.withLock({ $0 }) { _ = reap(pid) }
                usleep(10_000)
            }
        }
    }
}
