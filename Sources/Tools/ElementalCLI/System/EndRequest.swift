@preconcurrency import Dispatch
import Elemental

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The wish that this program ends: of the user, by Ctrl-C or SIGTERM, or of a reader of standard output that is gone.
final class EndRequest: Sendable {
    static let shared = EndRequest()

    private struct State {
        /// The first that came.
        var signal: Int32?
        var isTrapping = false
        var sources: [any DispatchSourceSignal] = []
    }

    private let state = Locked(State())
    private let made = Latch()
    private let signalled = Latch()
    private let queue = DispatchQueue(label: "elemental.signals")

    private init() {}

    /// The signal that the user sent; `nil` if he sent none.
    var signal: Int32? { state.withLock { $0.signal } }

    /// The reader of standard output is gone.
    func noteBrokenPipe() { made.open() }

    /// Waits for it.
    ///
    /// - Parameter signalsOnly: whether a reader that is gone is no reason to end.
    /// - Returns: `false` if the task was cancelled before.
    func wait(signalsOnly: Bool) async -> Bool { await (signalsOnly ? signalled : made).wait() }

    /// From now on Ctrl-C and SIGTERM do not end the process but are this wish; the second of them ends it at once, with
    /// the status 130.
    func trapSignals() async {
        let isTrapping = state.withLock { state in
            defer { state.isTrapping = true }
            return state.isTrapping
        }
        guard !isTrapping else { return }
        for number in [SIGINT, SIGTERM] {
            #if canImport(Darwin)
            // There the signal does what it does besides.
            _ = Darwin.signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // On a thread that does nothing else: however busy the rest is, this works.
            source.setEventHandler { [self] in take(number) }
            state.withLock { $0.sources.append(source) }
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
    }

    private func take(_ number: Int32) {
        let isFirst = state.withLock { state in
            defer { state.signal = state.signal ?? number }
            return state.signal == nil
        }
        guard isFirst else { exit(130) }
        made.open()
        signalled.open()
        StandardStreams.shared.hurry()
    }
}
