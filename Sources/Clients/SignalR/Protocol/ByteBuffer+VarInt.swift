import NIOCore

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
