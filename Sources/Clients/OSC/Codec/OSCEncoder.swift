public import NIOCore

extension ByteBuffer {
    /// Writes a packet. Texts end at their first NUL, which OSC cannot express.
    public mutating func writeOSC(_ packet: OSCPacket) {
        switch packet {
        case .message(let message): writeOSC(message)
        case .bundle(let time, let packets):
            writeStaticString("#bundle\0")
            writeInteger(time.rawValue)
            for packet in packets {
                let start = writerIndex
                writeInteger(0 as UInt32)
                writeOSC(packet)
                setInteger(UInt32(writerIndex - start - 4), at: start)
            }
        }
    }

    /// Writes a message. Texts end at their first NUL, which OSC cannot express.
    public mutating func writeOSC(_ message: OSCMessage) {
        writeOSCText(message.address)
        let start = writerIndex
        writeInteger(UInt8(ascii: ","))
        for argument in message.arguments { writeOSCTag(of: argument) }
        writeOSCPadding(from: start, isText: true)
        for argument in message.arguments { writeOSC(argument) }
    }

    private mutating func writeOSCTag(of argument: OSCArgument) {
        let tag: Unicode.Scalar
        switch argument {
        case .int32: tag = "i"
        case .float: tag = "f"
        case .string: tag = "s"
        case .symbol: tag = "S"
        case .blob: tag = "b"
        case .bool(let value): tag = value ? "T" : "F"
        case .null: tag = "N"
        case .impulse: tag = "I"
        case .int64: tag = "h"
        case .timeTag: tag = "t"
        case .double: tag = "d"
        case .character: tag = "c"
        case .color: tag = "r"
        case .midi: tag = "m"
        case .array(let elements):
            writeInteger(UInt8(ascii: "["))
            for element in elements { writeOSCTag(of: element) }
            tag = "]"
        }
        writeInteger(UInt8(ascii: tag))
    }

    private mutating func writeOSC(_ argument: OSCArgument) {
        switch argument {
        case .int32(let value): writeInteger(value)
        case .float(let value): writeInteger(value.bitPattern)
        case .string(let text), .symbol(let text): writeOSCText(text)
        case .blob(let bytes):
            writeInteger(UInt32(bytes.readableBytes))
            let start = writerIndex
            writeImmutableBuffer(bytes)
            writeOSCPadding(from: start, isText: false)
        case .bool, .null, .impulse: break
        case .int64(let value): writeInteger(value)
        case .timeTag(let time): writeInteger(time.rawValue)
        case .double(let value): writeInteger(value.bitPattern)
        case .character(let value), .color(let value), .midi(let value): writeInteger(value)
        case .array(let elements): for element in elements { writeOSC(element) }
        }
    }

    private mutating func writeOSCText(_ text: String) {
        let start = writerIndex
        if text.utf8.contains(0) { writeBytes(text.utf8.prefix { $0 != 0 }) } else { writeString(text) }
        writeOSCPadding(from: start, isText: true)
    }

    /// - Parameter isText: whether at least one NUL has to follow.
    private mutating func writeOSCPadding(from start: Int, isText: Bool) {
        let count = writerIndex - start
        writeRepeatingByte(0, count: ((count + (isText ? 4 : 3)) & ~3) - count)
    }
}
