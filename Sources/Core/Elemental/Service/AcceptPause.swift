import NIOCore
import Support

/// Decides when a server that cannot accept retries: takes events, returns actions. No sockets, no timers.
struct AcceptPause {
    /// Whether accepting is paused.
    private(set) var isOn = false
    private var backOff = BackOff(first: .milliseconds(100), maximum: .seconds(1))

    /// Accepting failed because descriptors or memory ran out.
    ///
    /// - Returns: the delay before the next attempt; `nil` if accepting is already paused.
    mutating func begin() -> TimeAmount? {
        guard !isOn else { return nil }
        isOn = true
        return TimeAmount(backOff.next())
    }

    /// The delay has elapsed, or a connection was closed.
    ///
    /// - Returns: whether to resume accepting.
    mutating func end() -> Bool {
        defer { isOn = false }
        return isOn
    }

    /// Accepting succeeded.
    mutating func succeed() { backOff.reset() }
}
