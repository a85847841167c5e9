import ElementalWire
import NIOCore

/// The pings of a device that wait for their pong.
final class PingRegistry: Sendable {
    typealias Continuation = CheckedContinuation<ContinuousClock.Instant, any Error>

    private struct State {
        var waiting: [UInt64: (continuation: Continuation, deadline: Scheduled<Void>?)] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    /// A number that tells one ping from another.
    func next() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    func wait(for token: UInt64, _ continuation: Continuation) {
        state.withLock { $0.waiting[token] = (continuation, nil) }
    }

    /// The timer that ends the wait; it is cancelled with it.
    func set(_ deadline: Scheduled<Void>, for token: UInt64) {
        let isWaiting = state.withLock { state in
            state.waiting[token]?.deadline = deadline
            return state.waiting[token] != nil
        }
        if !isWaiting { deadline.cancel() }
    }

    /// The pong's first 8 bytes are the number.
    func answer(_ value: UnsafeRawBufferPointer) {
        guard value.count >= 8, let token = UInt64(wireBytes: UnsafeRawBufferPointer(rebasing: value[..<8])) else {
            return
        }
        let now = ContinuousClock.now
        take(token)?.resume(returning: now)
    }

    func fail(_ token: UInt64, _ error: any Error) { take(token)?.resume(throwing: error) }

    func failAll(_ error: any Error) {
        for token in state.withLock({ Array($0.waiting.keys) }) { fail(token, error) }
    }

    private func take(_ token: UInt64) -> Continuation? {
        guard let entry = state.withLock({ $0.waiting.removeValue(forKey: token) }) else { return nil }
        entry.deadline?.cancel()
        return entry.continuation
    }
}
