import NIOCore
import NIOFoundationEssentialsCompat

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Hub messages as JSON text, each followed by a record separator.
struct JSONCodec: HubCodec {
    /// Ends each message.
    static let recordSeparator: UInt8 = 0x1E

    let encoder: JSONEncoder
    let decoder: JSONDecoder

    let name = "json"
    let isBinary = false
    var null: ByteBuffer { ByteBuffer(staticString: "null") }

    // MARK: - Values

    func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws(SignalRError) {
        // A fast path for the most frequent types: the encoder takes some microseconds for any value.
        switch value {
        case let text as String: buffer.writeJSONString(text)
        case let number as Int: buffer.writeString(String(number))
        case let flag as Bool: buffer.writeString(flag ? "true" : "false")
        default:
            do {
                buffer.writeBytes(try encoder.encode(value))
            } catch {
                throw SignalRError(
                    .invalidArgument, "a value of type \(Value.self) cannot be encoded as JSON", cause: error)
            }
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws(SignalRError) -> Value {
        if type == String.self, let text = bytes.plainJSONString, let value = text as? Value { return value }
        do {
            return try decoder.decodeRepairing(type, from: bytes)
        } catch {
            // `HubValue` accepts every type, so naming it would not explain the error.
            let what = type == HubValue.self || type == [HubValue].self ? "cannot be read" : "is no \(type)"
            throw SignalRError(.invalidResult, "the server's JSON \(what): \(bytes.excerpt)", cause: error)
        }
    }

    func beginArray(_ count: Int, into buffer: inout ByteBuffer) { buffer.writeInteger(UInt8(ascii: "[")) }
    func separate(into buffer: inout ByteBuffer) { buffer.writeInteger(UInt8(ascii: ",")) }
    func endArray(into buffer: inout ByteBuffer) { buffer.writeInteger(UInt8(ascii: "]")) }

    func enterArray(_ array: inout ByteBuffer) throws(SignalRError) {
        guard let start = array.scan({ try? $0.expect(UInt8(ascii: "[")) }) else {
            throw .violation("arguments that are not an array")
        }
        array.moveReaderIndex(forwardBy: start.end)
    }

    func nextElement(_ array: inout ByteBuffer) throws(SignalRError) -> ByteBuffer? {
        let found = array.scan { scanner -> Range<Int>?? in
            if scanner.take(UInt8(ascii: "]")) || scanner.peek() == nil { return .some(nil) }
            guard let range = try? scanner.value() else { return nil }
            guard scanner.take(UInt8(ascii: ",")) || scanner.peek() == UInt8(ascii: "]") else { return nil }
            return range
        }
        guard let found else { throw .violation("an argument that is not JSON") }
        guard let range = found.value else { return nil }
        let element = array.getSlice(at: array.readerIndex + range.lowerBound, length: range.count)
        array.moveReaderIndex(forwardBy: found.end)
        return element
    }
}

extension ByteBuffer {
    /// Scans from the reader index on; `nil` if nothing is found.
    func scan<Found>(_ body: (inout JSONScanner) -> Found?) -> (value: Found, end: Int)? {
        withUnsafeReadableBytes { bytes in
            var scanner = JSONScanner(bytes)
            return body(&scanner).map { ($0, scanner.index) }
        }
    }

    /// The JSON string in these bytes, if nothing in it is escaped.
    var plainJSONString: String? {
        let view = readableBytesView
        guard view.count >= 2, view.first == UInt8(ascii: "\""), view.last == UInt8(ascii: "\"") else { return nil }
        let text = view.dropFirst().dropLast()
        // Not in the view, which checks its bounds for each byte.
        let isPlain = text.withUnsafeBytes { bytes in
            !bytes.contains { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 < 0x20 }
        }
        guard isPlain else { return nil }
        return try? getUTF8ValidatedString(at: text.startIndex, length: text.count)
    }

    /// The beginning of the text, for error messages.
    var excerpt: String {
        let maximum = 100
        let text = String(decoding: readableBytesView.prefix(maximum), as: UTF8.self)
        return readableBytes > maximum ? text + "…" : text
    }

    /// Appends a string in quotation marks.
    mutating func writeJSONString(_ text: String) {
        writeInteger(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            for (index, byte) in bytes.enumerated() {
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                writeBytes(UnsafeBufferPointer(rebasing: bytes[start..<index]))
                start = index + 1
                switch byte {
                case UInt8(ascii: "\""): writeStaticString("\\\"")
                case UInt8(ascii: "\\"): writeStaticString("\\\\")
                case 0x0A: writeStaticString("\\n")
                case 0x0D: writeStaticString("\\r")
                case 0x09: writeStaticString("\\t")
                default:
                    writeStaticString("\\u00")
                    let digits: StaticString = "0123456789abcdef"
                    digits.withUTF8Buffer { digits in
                        writeInteger(digits[Int(byte >> 4)])
                        writeInteger(digits[Int(byte & 0xF)])
                    }
                }
            }
            writeBytes(UnsafeBufferPointer(rebasing: bytes[start...]))
        }
        writeInteger(UInt8(ascii: "\""))
    }
}
