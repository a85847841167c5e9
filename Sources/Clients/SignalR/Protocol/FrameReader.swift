import NIOCore

/// Splits received bytes into messages: text at record separators, binary by the length prefix of each message.
struct FrameReader {
    private let isBinary: Bool
    private let maximum: Int
    /// Bytes that were received and not consumed.
    var pending = ByteBuffer()
    /// How many pending bytes were searched for the end of a message.
    private var searched = 0

    /// - Parameter maximum: bytes of the largest message.
    init(isBinary: Bool, maximum: Int) {
        self.isBinary = isBinary
        self.maximum = maximum
    }

    mutating func append(_ bytes: ByteBuffer) {
        guard pending.readableBytes > 0 else { return pending = bytes }
        // The beginning of a message is moved to the front once, and what follows is added to it.
        if pending.readerIndex > 0 { pending.discardReadBytes() }
        pending.writeImmutableBuffer(bytes)
    }

    /// The next message without its framing; `nil` until it is complete.
    mutating func next() throws(SignalRError) -> ByteBuffer? {
        isBinary ? try nextBinary() : try nextText()
    }

    private mutating func nextText() throws(SignalRError) -> ByteBuffer? {
        let view = pending.readableBytesView
        let end = view.dropFirst(searched).firstIndex(of: JSONCodec.recordSeparator)
        guard (end.map { $0 - view.startIndex } ?? view.count) <= maximum else { throw tooLarge }
        guard let end else {
            searched = view.count
            return nil
        }
        let message = pending.readSlice(length: end - pending.readerIndex)
        pending.moveReaderIndex(forwardBy: 1)
        searched = 0
        return message
    }

    private mutating func nextBinary() throws(SignalRError) -> ByteBuffer? {
        guard let (length, prefix) = try pending.peekVarInt() else { return nil }
        guard length <= maximum else { throw tooLarge }
        guard pending.readableBytes >= prefix + length else { return nil }
        pending.moveReaderIndex(forwardBy: prefix)
        return pending.readSlice(length: length)
    }

    private var tooLarge: SignalRError {
        SignalRError(.messageTooLarge, "the server sent a message of more than \(maximum) bytes")
    }
}
