@preconcurrency import Dispatch

/// Ctrl-C (SIGINT) and SIGTERM, as a request that this program end in order. They do what they always did until something
/// waits for them.
package final class EndSignals: Sendable {
    package static let shared = EndSignals()

    private struct State {
        /// The first signal, and when it came.
        var first: (signal: Int32, time: ContinuousClock.Instant)?
        var handlers: [UInt64: @Sendable () -> Void] = [:]
        var handlerCount: UInt64 = 0
        var sources: [any DispatchSourceSignal] = []
    }

    /// Signals that come so soon after the first count as the same request: `timeout` sends its signal to the process and
    /// to the process's group.
    private static let echoTime: Duration = .milliseconds(250)

    private let state = Locked(State())
    // A queue of its own, so that signals work however busy the rest of the program is.
    private let queue = DispatchQueue(label: "elemental.signals")

    private init() {}

    /// The first signal; `nil` if none has come.
    package var first: Int32? { state.withLock { $0.first?.signal } }

    /// From now on the signals do not end the process. The first one calls `handler`, on a thread of its own; one that has
    /// come before does so at once. A second one, at least 250 ms after the first, or one without any handler, ends the
    /// process at once with the status 130.
    ///
    /// - Returns: what ``remove(_:)`` takes.
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
        // There a dispatch source does not replace the signal's default action.
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

    /// Counts another signal as the request.
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
