@preconcurrency import Dispatch

/// Ctrl-C (SIGINT) and SIGTERM as requests to end the program gracefully. The signals keep their default action until
/// the first handler is added.
package final class EndSignals: Sendable {
    package static let shared = EndSignals()

    private struct State {
        /// The first signal, and its time.
        var first: (signal: Int32, time: ContinuousClock.Instant)?
        var handlers: [UInt64: @Sendable () -> Void] = [:]
        var handlerCount: UInt64 = 0
        var sources: [any DispatchSourceSignal] = []
    }

    /// A signal within this time after the first belongs to the same request: `timeout` sends its signal to the process
    /// and to the process group.
    private static let echoTime: Duration = .milliseconds(250)

    private let state = Locked(State())
    // A separate queue, so that a busy program still reacts to signals.
    private let queue = DispatchQueue(label: "elemental.signals")

    private init() {}

    /// The first signal; `nil` if none has come.
    package var first: Int32? { state.withLock { $0.first?.signal } }

    /// Adds a handler for the first signal. From now on the first signal does not end the process.
    ///
    /// The first signal calls `handler` on a separate thread; if it has already arrived, this method calls `handler` at
    /// once. A second signal at least 250 ms after the first, or a first one after all handlers were removed, ends the
    /// process at once with status 130.
    ///
    /// - Returns: the token for ``remove(_:)``.
    package func add(_ handler: @escaping @Sendable () -> Void) async -> UInt64 {
        let (token, isOver, isTrapping) = state.withLock { state in
            state.handlerCount += 1
            state.handlers[state.handlerCount] = handler
            return (state.handlerCount, state.first != nil, state.handlerCount > 1)
        }
        if isOver { handler() }
        if !isTrapping { for number in [SIGINT, SIGTERM] { await trap(number) } }
        return token
    }

    package func remove(_ token: UInt64) { state.withLock { $0.handlers[token] = nil } }

    private func trap(_ number: Int32) async {
        #if canImport(Darwin)
        // On Darwin a dispatch source does not replace the signal's default action.
        _ = signal(number, SIG_IGN)
        #endif
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [self] in take(number) }
        state.withLock { $0.sources.append(source) }
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler { continuation.resume() }
            source.resume()
        }
    }

    /// Handles a signal, or another event that counts as one.
    package func take(_ number: Int32) {
        let now = ContinuousClock.now
        let (first, handlers) = state.withLock { state in
            defer { state.first = state.first ?? (number, now) }
            return (state.first, state.handlers)
        }
        if first.map({ now - $0.time >= Self.echoTime }) ?? handlers.isEmpty { exit(130) }
        if first == nil { for handler in handlers.values { handler() } }
    }
}
