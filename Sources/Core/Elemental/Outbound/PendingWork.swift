/// What a flush has left to do.
struct PendingWork: OptionSet {
    let rawValue: UInt8
    /// Something of the stream is unsent.
    static let stream = PendingWork(rawValue: 1)
    /// Datagrams wait.
    static let datagrams = PendingWork(rawValue: 2)
    /// There is room for senders that wait for it.
    static let room = PendingWork(rawValue: 4)
    /// There are senders that wait.
    static let waiters = PendingWork(rawValue: 8)
}
