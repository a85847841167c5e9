import NIOCore

/// Splits received bytes into messages: text at record separators, binary by the length prefix of each message.
package struct FrameReader {
    private let isBinary: Bool
    private let maximum: Int
    private(set) var pending = ByteBuffer()
    /// How many pending bytes were searched for the end of a message.
    private var searched = 0

    package init(isBinary: Bool, maximum: Int) {
        self.isBinary = isBinary
        self.maximum = maximum
    }

    package mutating func append(_ bytes: ByteBuffer) {
        guard pending.readableBytes > 0 else { return pending = bytes }
        // Moves the beginning of a message to the front once, then appends the following bytes to it.
        if pending.readerIndex > 0 { pending.discardReadBytes() }
        pending.writeImmutableBuffer(bytes)
    }

    /// Returns the next message without its framing; `nil` until it is complete.
    package mutating func next() throws(SignalRError) -> ByteBuffer? {
        isBinary ? try nextBinary() : try nextText(maximum: maximum)
    }

    /// Returns the next text up to a record separator, also before binary messages; `nil` until it is complete.
    package mutating func nextText(maximum: Int) throws(SignalRError) -> ByteBuffer? {
        let view = pending.readableBytesView
        let end = view.dropFirst(searched).firstIndex(of: JSONCodec.recordSeparator)
        guard (end.map { $0 - view.startIndex } ?? view.count) <= maximum else { throw tooLarge(maximum) }
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
        guard length <= maximum else { throw tooLarge(maximum) }
        guard pending.readableBytes >= prefix + length else { return nil }
        pending.moveReaderIndex(forwardBy: prefix)
        return pending.readSlice(length: length)
    }

    private func tooLarge(_ maximum: Int) -> SignalRError {
        SignalRError(.messageTooLarge, "the server sent a message of more than \(maximum) bytes")
    }
}

extension ByteBuffer {
    /// Reads a length of up to 31 bits in up to 5 bytes, the lowest 7 bits first, without consuming it. Also returns
    /// how many bytes it takes; `nil` until it is complete.
    package func peekVarInt() throws(SignalRError) -> (value: Int, length: Int)? {
        var value = 0
        for offset in 0..<5 {
            guard let byte = getInteger(at: readerIndex + offset, as: UInt8.self) else { return nil }
            value |= Int(byte & 0x7F) << (7 * offset)
            if byte & 0x80 == 0 {
                guard value <= Int(Int32.max) else { break }
                return (value, offset + 1)
            }
        }
        throw .violation("a message's length of more than 31 bits")
    }

    /// Writes a length as ``peekVarInt()`` reads it.
    package mutating func writeVarInt(_ value: Int) {
        var rest = value
        while rest > 0x7F {
            writeInteger(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        writeInteger(UInt8(rest))
    }
}
