/// The work that a flush leaves.
struct PendingWork: OptionSet {
    let rawValue: UInt8
    /// Part of the stream is unsent.
    static let stream = PendingWork(rawValue: 1)
    /// Datagrams are queued.
    static let datagrams = PendingWork(rawValue: 2)
    /// There is room for waiting senders.
    static let room = PendingWork(rawValue: 4)
    /// Senders are waiting.
    static let waiters = PendingWork(rawValue: 8)
}
