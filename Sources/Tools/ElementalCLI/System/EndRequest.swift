import Support
import Synchronization

/// The request to end this program: a signal (Ctrl-C, SIGTERM, or that of a closed terminal), or a reader of standard
/// output that has gone.
final class EndRequest: Sendable {
    static let shared = EndRequest()

    private let isTrapping = Atomic(false)
    private let made = Latch()
    private let signalled = Latch()

    private init() {}

    var signal: Int32? { EndSignals.shared.first }

    func noteBrokenPipe() { made.open() }

    /// Waits for the request; optionally ignores a reader that has gone. Returns `false` if the task was cancelled first.
    func wait(signalsOnly: Bool) async -> Bool { await (signalsOnly ? signalled : made).wait() }

    /// From now on Ctrl-C and SIGTERM do not kill the process but make this request. A second signal, at least 250 ms
    /// after the first, ends the process at once with the status 130.
    ///
    /// - Parameter onSignal: called once, on a thread of its own, when the first signal comes.
    func trapSignals(onSignal: @escaping @Sendable () -> Void) async {
        guard !isTrapping.exchange(true, ordering: .relaxed) else { return }
        _ = await EndSignals.shared.add { [made, signalled] in
            made.open()
            signalled.open()
            onSignal()
        }
    }

    func noteHangup() { if signal == nil { EndSignals.shared.take(SIGHUP) } }
}
