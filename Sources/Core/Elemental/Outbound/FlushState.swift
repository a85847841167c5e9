/// The flush state of a queue, which determines whether queueing a value must wake the connection.
enum FlushState {
    /// No flush is pending: the next value wakes the connection.
    case idle
    /// A flush is scheduled or running, and will include what is queued meanwhile.
    case scheduled
    /// Values arrive at a high rate: a flush follows a little later, or as soon as a segment is full. Writing the
    /// values as they arrive would cost a system call for every few.
    case gathering
    /// The socket is full: a flush follows when it is writable.
    case blocked
    /// The thread that queued a value writes it. It schedules a flush if there is more.
    case direct

    /// Records that something was queued.
    ///
    /// - Parameter isFull: whether enough is batched.
    /// - Returns: whether the connection must be woken.
    @inline(__always)
    mutating func queued(isFull: Bool) -> Bool {
        switch self {
        case .scheduled, .blocked, .direct: return false
        case .idle: break
        case .gathering: guard isFull else { return false }
        }
        self = .scheduled
        return true
    }

    /// The owner flushes without being woken, such as in the loop's next turn.
    mutating func schedule() {
        if self != .blocked, self != .direct { self = .scheduled }
    }

    /// The socket is writable: the owner flushes.
    mutating func unblock() {
        if self == .blocked { self = .scheduled }
    }
}
