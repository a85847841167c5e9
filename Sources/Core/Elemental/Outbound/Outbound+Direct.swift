import ElementalWire
import NIOCore

/// Values that are written by the thread that queued them, which saves waking the event loop.
///
/// The thread claims the stream while it holds the lock, and gives it back when it has written: the event loop writes
/// nothing of the stream in between.
extension Outbound {
    /// The largest segment, in bytes, that is written this way: more is copied by the loop's thread.
    private static var maximumDirectByteCount: Int { 16 * 1024 }

    /// Whether a thread may claim the stream: not while large values are under way, which would wait if the system
    /// suspends the thread before it has written.
    var allowsDirectWrite: Bool {
        @inline(__always) get { pieces.isEmpty }
    }

    /// Claims the stream, whose link has just been returned by ``append(_:_:)``.
    ///
    /// - Returns: the claim's number.
    mutating func claim() -> UInt64 {
        direct.claim += 1
        streamFlush = .direct
        return direct.claim
    }

    /// Whether the claim still holds: not if the connection has ended since.
    private func holds(_ claim: UInt64) -> Bool { streamFlush == .direct && direct.claim == claim }

    /// The segment to write, all that is queued.
    ///
    /// - Returns: `nil` if the loop has to write it instead.
    mutating func takeDirectly(_ claim: UInt64) -> OutboundSegment? {
        guard holds(claim), isOpen, pieces.isEmpty, stream.byteCount <= Self.maximumDirectByteCount,
            let segment = stream.takeSegment()
        else { return nil }
        direct.messageCount = segment.messageCount
        return segment
    }

    /// The thread has written what the socket accepted.
    ///
    /// - Parameter segment: what it took; `nil` if it took nothing.
    /// - Returns: whether the loop has to flush.
    mutating func endDirectWrite(_ claim: UInt64, _ segment: OutboundSegment?) -> Bool {
        guard holds(claim) else { return false }
        if let segment {
            direct.byteCount &+= segment.writtenByteCount
            if segment.isComplete { direct.messageCount = 0 } else { direct.rest = segment }
        }
        // Whoever waits for the queue, or for the end of the connection, is notified by the loop.
        if direct.rest == nil, stream.isEmpty, pieces.isEmpty, waiters.isEmpty, isOpen {
            streamFlush = .idle
            return false
        }
        streamFlush = .scheduled
        return true
    }
}

/// The state of direct writes.
struct DirectWrites {
    /// The number of the last claim.
    fileprivate(set) var claim: UInt64 = 0
    /// Messages that a thread has taken and not written completely.
    fileprivate(set) var messageCount = 0
    /// What the socket did not accept, to be written by the loop.
    fileprivate(set) var rest: OutboundSegment?
    /// Bytes written.
    fileprivate(set) var byteCount = 0

    /// Removes what the socket did not accept.
    mutating func takeRest() -> OutboundSegment? {
        guard let segment = rest.take() else { return nil }
        messageCount = 0
        return segment
    }

    /// The connection has ended.
    mutating func discard() {
        rest = nil
        messageCount = 0
    }
}
