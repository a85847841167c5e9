import ElementalWire
import NIOCore

/// Values that are written by the thread that queued them, which saves waking the event loop.
///
/// The thread claims the stream, or the datagrams, while it holds the lock, and gives them back when it has written: the
/// event loop writes nothing of the same transport in between.
extension Outbound {
    /// The largest segment, in bytes, that is written this way: more is copied by the loop's thread.
    private static var maximumDirectByteCount: Int { 16 * 1024 }

    /// Whether a thread may claim the transport: not the stream while large values are under way, which would wait if
    /// the system suspends the thread before it has written.
    @inline(__always)
    func allowsDirectWrite(over transport: Transport) -> Bool { transport == .udp || pieces.isEmpty }

    /// Claims the transport of a value for which ``append(_:_:)`` has just returned the link.
    ///
    /// - Returns: the claim's number.
    mutating func claim(_ transport: Transport) -> UInt64 {
        direct.lastClaim += 1
        switch transport {
        case .tcp:
            streamFlush = .direct
            direct.stream.claim = direct.lastClaim
        case .udp:
            datagramFlush = .direct
            direct.datagrams.claim = direct.lastClaim
        }
        return direct.lastClaim
    }

    /// Whether the claim still holds: not if the connection has ended since.
    private func holds(_ claim: UInt64) -> Bool { streamFlush == .direct && direct.stream.claim == claim }

    /// The segment to write, all that is queued.
    ///
    /// - Returns: `nil` if the loop has to write it instead.
    mutating func takeDirectly(_ claim: UInt64) -> OutboundSegment? {
        guard holds(claim), isOpen, pieces.isEmpty, stream.byteCount <= Self.maximumDirectByteCount,
            let segment = stream.takeSegment()
        else { return nil }
        direct.stream.messageCount = segment.messageCount
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
            if segment.isComplete { direct.stream.messageCount = 0 } else { direct.rest = segment }
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

/// The same for datagrams.
extension Outbound {
    private func holdsDatagrams(_ claim: UInt64) -> Bool {
        datagramFlush == .direct && direct.datagrams.claim == claim
    }

    /// The datagram to send, the first of what is queued.
    ///
    /// - Returns: `nil` if the loop has to send it instead.
    mutating func takeDatagramDirectly(_ claim: UInt64) -> OutboundSegment? {
        guard holdsDatagrams(claim), isOpen, let segment = datagrams.takeSegment() else { return nil }
        direct.datagrams.messageCount = segment.messageCount
        return segment
    }

    /// The thread has sent the datagram.
    ///
    /// - Parameter unsent: the datagram if the system had no room for it.
    /// - Returns: whether the loop has to flush.
    mutating func endDirectDatagram(_ claim: UInt64, unsent: OutboundSegment?) -> Bool {
        guard holdsDatagrams(claim) else { return false }
        direct.datagrams.messageCount = 0
        unsentDatagram = unsent
        if !hasDatagrams, waiters.isEmpty, isOpen {
            datagramFlush = .idle
            return false
        }
        datagramFlush = .scheduled
        return true
    }
}

/// The state of direct writes.
struct DirectWrites {
    /// Those over one transport.
    struct Claimed {
        /// The number of the last claim.
        fileprivate(set) var claim: UInt64 = 0
        /// Messages that a thread has taken and not written completely.
        fileprivate(set) var messageCount = 0
    }

    fileprivate(set) var stream = Claimed()
    fileprivate(set) var datagrams = Claimed()
    fileprivate var lastClaim: UInt64 = 0
    /// What the stream's socket did not accept, to be written by the loop.
    fileprivate(set) var rest: OutboundSegment?
    /// Bytes written to the stream.
    fileprivate(set) var byteCount = 0

    /// Messages that threads have taken and not written completely.
    var messageCount: Int { stream.messageCount + datagrams.messageCount }

    /// Removes what the stream's socket did not accept.
    mutating func takeRest() -> OutboundSegment? {
        guard let segment = rest.take() else { return nil }
        stream.messageCount = 0
        return segment
    }

    /// The connection has ended.
    mutating func discard() {
        rest = nil
        stream.messageCount = 0
        datagrams.messageCount = 0
    }
}
