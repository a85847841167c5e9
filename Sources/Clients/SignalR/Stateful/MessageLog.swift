import DequeModule
import NIOCore

/// The numbered messages of a connection that can be resumed.
///
/// Each peer numbers the messages that it sends, implicitly and from 1, but only messages that are
/// ``HubMessage/isCounted``. It keeps them until the other peer acknowledges them. After a break it sends a `Sequence`
/// with the number of the first kept message, and then these messages again. ASP.NET Core 10 does this; the
/// specification demands the number of the next message instead.
struct MessageLog {
    private let limit: Int
    /// The messages to send again after a break.
    private(set) var kept: Deque<ByteBuffer> = []
    private var size = 0
    /// The number of the first message kept, or of the next message if none is kept.
    private(set) var firstKept: Int64 = 1

    private var next: Int64 = 1
    private(set) var received: Int64 = 0
    private var awaitsSequence = false

    /// - Parameter limit: senders should wait while this many bytes are kept.
    init(limit: Int) { self.limit = limit }

    var isFull: Bool { size >= limit }

    func isOver(by surplus: Int) -> Bool { size > limit + surplus }

    mutating func keep(_ bytes: ByteBuffer) {
        kept.append(bytes)
        size += bytes.readableBytes
    }

    /// Drops all messages up to this number, which the peer has received.
    mutating func acknowledge(_ number: Int64) {
        while firstKept <= number, let bytes = kept.popFirst() {
            size -= bytes.readableBytes
            firstKept += 1
        }
    }

    /// - Returns: whether the message is new. After a break, a message that arrives before the peer's `Sequence` does
    ///   not count, because the peer sends it again.
    mutating func admit(_ message: HubMessage) -> Bool {
        guard message.isCounted else { return true }
        guard !awaitsSequence else { return false }
        defer { next += 1 }
        guard next > received else { return false }
        received = next
        return true
    }

    mutating func breakOff() { awaitsSequence = true }

    /// Continues with the message of this number, which the peer sends next.
    mutating func goOn(at number: Int64) throws(SignalRError) {
        guard (1...received + 1).contains(number) else {
            throw .violation("it continues with message \(number), but \(received) were received")
        }
        next = number
        awaitsSequence = false
    }
}
