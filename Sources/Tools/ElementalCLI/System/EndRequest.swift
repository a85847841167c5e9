@preconcurrency import Dispatch
import Elemental
import Support

/// The request that this program end: a signal (Ctrl-C, SIGTERM, or that of a closed terminal), or a reader of standard output that has gone.
final class EndRequest: Sendable {
    static let shared = EndRequest()

    private struct State {
        /// The first signal, and when it came.
        var first: (signal: Int32, time: ContinuousClock.Instant)?
        var onSignal: @Sendable () -> Void = {}
        var isTrapping = false
        var sources: [any DispatchSourceSignal] = []
    }

    /// Signals that come so soon after the first count as the same request: `timeout` sends its signal to the process and
    /// to the process's group.
    private static let echoTime: Duration = .milliseconds(250)

    private let state = Locked(State())
    private let made = Latch()
    private let signalled = Latch()
    private let queue = DispatchQueue(label: "elemental.signals")

    private init() {}

    /// The signal that made the request; `nil` if there was none.
    var signal: Int32? { state.withLock { $0.first?.signal } }

    /// Requests the end because the reader of standard output has gone.
    func noteBrokenPipe() { made.open() }

    /// Waits for the request.
    ///
    /// - Parameter signalsOnly: whether to ignore that a reader has gone.
    /// - Returns: `false` if the task was cancelled first.
    func wait(signalsOnly: Bool) async -> Bool { await (signalsOnly ? signalled : made).wait() }

    /// From now on Ctrl-C and SIGTERM do not kill the process but make this request. A second signal, at least 250 ms
    /// after the first, ends the process at once with the status 130.
    ///
    /// - Parameter onSignal: called once, on a thread of its own, when the first signal comes.
    func trapSignals(onSignal: @escaping @Sendable () -> Void) async {
        let isTrapping = state.withLock { state in
            defer { state.isTrapping = true }
            if !state.isTrapping { state.onSignal = onSignal }
            return state.isTrapping
        }
        guard !isTrapping else { return }
        for number in [SIGINT, SIGTERM] {
            #if canImport(Darwin)
            // There a dispatch source does not replace the signal's default action.
            _ = Darwin.signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // On a queue of its own, so that it works however busy the rest of the program is.
            source.setEventHandler { [self] in take(number) }
            state.withLock { $0.sources.append(source) }
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
    }

    /// Requests the end because the terminal was closed.
    func noteHangup() {
        if signal == nil { take(SIGHUP) }
    }

    private func take(_ number: Int32) {
        let now = ContinuousClock.now
        let (first, onSignal) = state.withLock { state in
            defer { state.first = state.first ?? (number, now) }
            return (state.first, state.onSignal)
        }
        if let first {
            if now - first.time >= Self.echoTime { exit(130) }
            return
        }
        made.open()
        signalled.open()
        onSignal()
    }
}
