import NIOCore

/// The messages of a connection that can be taken up again, by their numbers.
///
/// Both ends number the messages they send from 1 on, unsaid, those that ``HubMessage/isCounted`` alone. They keep them
/// until the other end acknowledges them, and send them again after a break, behind a `Sequence` that gives the number of
/// the first. Measured with ASP.NET Core 10, whose specification says that it is the number of the next.
struct MessageLog {
    private let limit: Int
    private var kept: CircularBuffer<ByteBuffer> = []
    private var size = 0
    /// The number of the first message that is kept, or of the next if none is.
    private(set) var firstKept: Int64 = 1

    /// The number of the next message to come.
    private var next: Int64 = 1
    /// The highest number that came.
    private(set) var received: Int64 = 0
    private var awaitsSequence = false

    /// - Parameter limit: bytes from which on no more should be kept.
    init(limit: Int) { self.limit = limit }

    /// Whether senders should wait for an acknowledgement.
    var isFull: Bool { size >= limit }

    /// Whether so many bytes more than the limit are kept.
    func isOver(by surplus: Int) -> Bool { size > limit + surplus }

    /// What is to be sent again after a break.
    var messages: some Sequence<ByteBuffer> { kept }

    /// Keeps a message that is sent.
    mutating func keep(_ bytes: ByteBuffer) {
        kept.append(bytes)
        size += bytes.readableBytes
    }

    /// The other end has all messages up to that number.
    mutating func acknowledge(_ number: Int64) {
        while firstKept <= number, let bytes = kept.popFirst() {
            size -= bytes.readableBytes
            firstKept += 1
        }
    }

    /// Counts a message that came.
    ///
    /// - Returns: whether it is new. After a break, messages before the other end's `Sequence` come again behind it.
    mutating func admit(_ message: HubMessage) -> Bool {
        guard message.isCounted else { return true }
        guard !awaitsSequence else { return false }
        defer { next += 1 }
        guard next > received else { return false }
        received = next
        return true
    }

    /// The connection broke.
    mutating func breakOff() { awaitsSequence = true }

    /// The other end goes on with that number.
    mutating func goOn(at number: Int64) throws(SignalRError) {
        guard (1...received + 1).contains(number) else {
            throw .violation("it goes on with message \(number), and \(received) have come")
        }
        next = number
        awaitsSequence = false
    }
}
