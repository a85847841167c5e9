import NIOCore
import Support

/// Decides when a server that cannot accept tries again: takes what happens, answers what to do. No sockets, no timers.
struct AcceptPause {
    /// Whether nothing is accepted at the moment.
    private(set) var isOn = false
    private var backOff = BackOff(first: .milliseconds(100), maximum: .seconds(1))

    /// Accepting failed for want of descriptors or memory.
    ///
    /// - Returns: when to try again; `nil` if that is settled already.
    mutating func begin() -> TimeAmount? {
        guard !isOn else { return nil }
        isOn = true
        return TimeAmount(backOff.next())
    }

    /// The time is over, or something was closed.
    ///
    /// - Returns: whether to accept again.
    mutating func end() -> Bool {
        defer { isOn = false }
        return isOn
    }

    /// Accepting succeeded.
    mutating func succeed() { backOff.reset() }
}
