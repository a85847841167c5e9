import NIOCore

/// The header of a MessagePack value: the whole value if it has no body, otherwise the kind and size of its body.
///
/// See the MessagePack specification, "Formats".
package enum MessagePackItem: Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    /// This many bytes of UTF-8 follow.
    case string(Int)
    /// This many bytes follow.
    case binary(Int)
    /// This many values follow.
    case array(Int)
    /// This many pairs of key and value follow.
    case map(Int)
    /// This many bytes follow, of a type defined by the application or, below 0, by the specification.
    case extended(type: Int8, Int)
}

/// Invalid MessagePack, or a value of another type than expected.
package struct MessagePackError: Error, CustomStringConvertible {
    package let description: String

    static let truncated = MessagePackError(description: "the MessagePack ends within a value")
}

extension ByteBuffer {
    package mutating func readMessagePack() throws(MessagePackError) -> MessagePackItem {
        let byte = try readMessagePackInteger(UInt8.self)
        switch byte {
        case 0x00...0x7F: return .integer(Int64(byte))
        case 0x80...0x8F: return .map(Int(byte & 0x0F))
        case 0x90...0x9F: return .array(Int(byte & 0x0F))
        case 0xA0...0xBF: return .string(Int(byte & 0x1F))
        case 0xC0: return .null
        case 0xC2, 0xC3: return .bool(byte == 0xC3)
        case 0xC4...0xC6: return .binary(try readCount(width: 1 << (byte - 0xC4)))
        case 0xC7...0xC9: return try extended(try readCount(width: 1 << (byte - 0xC7)))
        case 0xCA: return .float(Float(bitPattern: try readMessagePackInteger(UInt32.self)))
        case 0xCB: return .double(Double(bitPattern: try readMessagePackInteger(UInt64.self)))
        case 0xCC...0xCE: return .integer(Int64(try readCount(width: 1 << (byte - 0xCC))))
        case 0xCF:
            let value = try readMessagePackInteger(UInt64.self)
            return Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
        case 0xD0: return .integer(Int64(try readMessagePackInteger(Int8.self)))
        case 0xD1: return .integer(Int64(try readMessagePackInteger(Int16.self)))
        case 0xD2: return .integer(Int64(try readMessagePackInteger(Int32.self)))
        case 0xD3: return .integer(try readMessagePackInteger(Int64.self))
        case 0xD4...0xD8: return try extended(1 << Int(byte - 0xD4))
        case 0xD9...0xDB: return .string(try readCount(width: 1 << (byte - 0xD9)))
        case 0xDC, 0xDD: return .array(try readCount(width: 2 << (byte - 0xDC)))
        case 0xDE, 0xDF: return .map(try readCount(width: 2 << (byte - 0xDE)))
        case 0xE0...0xFF: return .integer(Int64(Int8(bitPattern: byte)))
        default:
            throw MessagePackError(
                description: "no MessagePack value begins with the byte 0x\(String(byte, radix: 16))")
        }
    }

    private mutating func extended(_ length: Int) throws(MessagePackError) -> MessagePackItem {
        .extended(type: try readMessagePackInteger(Int8.self), length)
    }

    private mutating func readMessagePackInteger<Value: FixedWidthInteger>(
        _ type: Value.Type
    ) throws(MessagePackError) -> Value {
        guard let value = readInteger(as: type) else { throw .truncated }
        return value
    }

    /// Reads a number of 1, 2 or 4 bytes.
    private mutating func readCount(width: UInt8) throws(MessagePackError) -> Int {
        switch width {
        case 1: Int(try readMessagePackInteger(UInt8.self))
        case 2: Int(try readMessagePackInteger(UInt16.self))
        default: Int(try readMessagePackInteger(UInt32.self))
        }
    }

    /// Reads a string as its bytes, which need not be UTF-8.
    package mutating func readMessagePackText() throws(MessagePackError) -> ByteBuffer {
        let item = try readMessagePack()
        guard case .string(let length) = item else {
            throw MessagePackError(description: "\(item) instead of a string")
        }
        guard let text = readSlice(length: length) else { throw .truncated }
        return text
    }

    /// Reads a whole value, including nested ones, as its bytes.
    ///
    /// It does not recurse, and its counter is bounded: every announced value takes at least one byte.
    package mutating func readMessagePackValue() throws(MessagePackError) -> ByteBuffer {
        let start = self
        var due = 1
        while due > 0 {
            due -= 1
            switch try readMessagePack() {
            case .null, .bool, .integer, .unsigned, .float, .double: break
            case .string(let length), .binary(let length), .extended(_, let length):
                guard length <= readableBytes else { throw .truncated }
                moveReaderIndex(forwardBy: length)
            case .array(let count): due += count
            case .map(let count): due += 2 * count
            }
            guard due <= readableBytes else { throw .truncated }
        }
        return start.getSlice(at: start.readerIndex, length: readerIndex - start.readerIndex) ?? ByteBuffer()
    }
}

extension ByteBuffer {
    // MARK: - Writing, in the shortest form

    mutating func writeMessagePackNull() { writeInteger(UInt8(0xC0)) }

    mutating func writeMessagePack(_ value: Bool) { writeInteger(UInt8(value ? 0xC3 : 0xC2)) }

    mutating func writeMessagePack(_ value: Int64) {
        switch value {
        case 0...: writeMessagePack(UInt64(value))
        case -32..<0: writeInteger(Int8(value))
        case Int64(Int8.min)...: writeMultipleIntegers(UInt8(0xD0), Int8(value))
        case Int64(Int16.min)...: writeMultipleIntegers(UInt8(0xD1), Int16(value))
        case Int64(Int32.min)...: writeMultipleIntegers(UInt8(0xD2), Int32(value))
        default: writeMultipleIntegers(UInt8(0xD3), value)
        }
    }

    mutating func writeMessagePack(_ value: UInt64) {
        switch value {
        case ..<0x80: writeInteger(UInt8(value))
        case ...UInt64(UInt8.max): writeMultipleIntegers(UInt8(0xCC), UInt8(value))
        case ...UInt64(UInt16.max): writeMultipleIntegers(UInt8(0xCD), UInt16(value))
        case ...UInt64(UInt32.max): writeMultipleIntegers(UInt8(0xCE), UInt32(value))
        default: writeMultipleIntegers(UInt8(0xCF), value)
        }
    }

    mutating func writeMessagePack(_ value: Float) { writeMultipleIntegers(UInt8(0xCA), value.bitPattern) }

    mutating func writeMessagePack(_ value: Double) { writeMultipleIntegers(UInt8(0xCB), value.bitPattern) }

    package mutating func writeMessagePack(_ value: String) { writeMessagePack(string: value.utf8) }

    /// Writes a string from its bytes, which need not be UTF-8.
    package mutating func writeMessagePack(string bytes: some Collection<UInt8>) {
        writeMessagePack(count: bytes.count, below: 32, 0xA0, byte: 0xD9, word: 0xDA)
        writeBytes(bytes)
    }

    mutating func writeMessagePack(binary bytes: some Collection<UInt8>) {
        writeMessagePack(count: bytes.count, byte: 0xC4, word: 0xC5)
        writeBytes(bytes)
    }

    package mutating func writeMessagePack(arrayOf count: Int) {
        writeMessagePack(count: count, below: 16, 0x90, word: 0xDC)
    }

    mutating func writeMessagePack(mapOf count: Int) { writeMessagePack(count: count, below: 16, 0x80, word: 0xDE) }

    /// - Parameters:
    ///   - limit: counts below it are added to `short`.
    ///   - byte: precedes a count of one byte, if there is such a format.
    ///   - word: precedes a count of two bytes; the format after it has four.
    private mutating func writeMessagePack(
        count: Int, below limit: Int = 0, _ short: UInt8 = 0, byte: UInt8? = nil, word: UInt8
    ) {
        if count < limit {
            writeInteger(short | UInt8(count))
        } else if let byte, count <= UInt8.max {
            writeMultipleIntegers(byte, UInt8(count))
        } else if count <= UInt16.max {
            writeMultipleIntegers(word, UInt16(count))
        } else {
            writeMultipleIntegers(word + 1, UInt32(count))
        }
    }
}
