import NIOCore

/// Decides when a server that cannot accept tries again: takes what happens, answers what to do. No sockets, no timers.
struct AcceptPause {
    private static let shortest = TimeAmount.milliseconds(100)
    private static let longest = TimeAmount.seconds(1)

    /// Whether nothing is accepted at the moment.
    private(set) var isOn = false
    private var delay = shortest

    /// Accepting failed for want of descriptors or memory.
    ///
    /// - Returns: when to try again; `nil` if that is settled already.
    mutating func begin() -> TimeAmount? {
        guard !isOn else { return nil }
        isOn = true
        defer { delay = min(delay * 2, Self.longest) }
        return delay
    }

    /// The time is over, or something was closed.
    ///
    /// - Returns: whether to accept again.
    mutating func end() -> Bool {
        defer { isOn = false }
        return isOn
    }

    /// Accepting succeeded.
    mutating func succeed() { delay = Self.shortest }
}
