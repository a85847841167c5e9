import DequeModule
import NIOCore

/// The numbered messages of a connection that can be resumed.
///
/// Both ends number the messages that they send, implicitly and from 1 on, but only those that
/// ``HubMessage/isCounted``. They keep them until the other end acknowledges them, and send them again after a break,
/// preceded by a `Sequence` with the number of the first. This was seen with ASP.NET Core 10; the specification says
/// that it is the number of the next.
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

    /// The other end has received all messages up to this number.
    mutating func acknowledge(_ number: Int64) {
        while firstKept <= number, let bytes = kept.popFirst() {
            size -= bytes.readableBytes
            firstKept += 1
        }
    }

    /// - Returns: whether it is new. After a break, messages that arrive before the other end's `Sequence` are sent
    ///   again after it.
    mutating func admit(_ message: HubMessage) -> Bool {
        guard message.isCounted else { return true }
        guard !awaitsSequence else { return false }
        defer { next += 1 }
        guard next > received else { return false }
        received = next
        return true
    }

    mutating func breakOff() { awaitsSequence = true }

    /// The other end continues with this number.
    mutating func goOn(at number: Int64) throws(SignalRError) {
        guard (1...received + 1).contains(number) else {
            throw .violation("it continues with message \(number), but \(received) were received")
        }
        next = number
        awaitsSequence = false
    }
}
