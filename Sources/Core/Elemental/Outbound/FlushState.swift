/// How far the writing of a queue has come, and so whether a value that is queued needs to wake the connection.
enum FlushState {
    /// Nothing was asked for: the next value wakes the connection.
    case idle
    /// A flush is on its way or under way, and will see what is queued meanwhile.
    case scheduled
    /// Values pour in: a flush comes a little later, or as soon as a segment is full. Writing the values as they come
    /// would be a system call for a few.
    case gathering
    /// The socket is full: a flush comes when it takes more.
    case blocked

    /// Notes that something was queued.
    ///
    /// - Parameter isFull: whether enough is gathered.
    /// - Returns: whether the connection must be woken.
    @inline(__always)
    mutating func queued(isFull: Bool) -> Bool {
        switch self {
        case .scheduled, .blocked: return false
        case .idle: break
        case .gathering: guard isFull else { return false }
        }
        self = .scheduled
        return true
    }

    /// The owner comes back by itself, such as in the loop's next turn.
    mutating func schedule() {
        if self != .blocked { self = .scheduled }
    }

    /// The socket takes more: the owner flushes.
    mutating func unblock() {
        if self == .blocked { self = .scheduled }
    }
}
