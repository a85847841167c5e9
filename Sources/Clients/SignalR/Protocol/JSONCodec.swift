import NIOCore
import NIOFoundationEssentialsCompat
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Hub messages as JSON text, each followed by a record separator.
struct JSONCodec: HubCodec {
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
        if type == String.self, let text = bytes.jsonString, let value = text as? Value { return value }
        do {
            return try decoder.decodeRepairing(type, from: bytes)
        } catch {
            // `HubValue` accepts every type, so naming it would not explain the error.
            let what = type == HubValue.self || type == [HubValue].self ? "cannot be read" : "is not a \(type)"
            throw SignalRError(.invalidResult, "the server's JSON \(what): \(bytes.excerpt)", cause: error)
        }
    }

    func encodeArguments(_ arguments: [any Encodable]) throws(SignalRError) -> ByteBuffer {
        var buffer = ByteBuffer(string: "[")
        for (index, argument) in arguments.enumerated() {
            if index > 0 { buffer.writeStaticString(",") }
            try encode(argument, into: &buffer)
        }
        buffer.writeStaticString("]")
        return buffer
    }

    func enterArray(_ array: inout ByteBuffer) throws(SignalRError) {
        guard array.scan({ $0.take("[") ? () : nil }) != nil else {
            throw .violation("arguments that are not an array")
        }
    }

    func nextElement(_ array: inout ByteBuffer) throws(SignalRError) -> ByteBuffer? {
        let before = array
        let found = array.scan { reader -> Range<Int>?? in
            if reader.take("]") || reader.isAtEnd() { return .some(nil) }
            guard let range = reader.skip(), reader.take(",") || reader.isAt("]") else { return nil }
            return range
        }
        guard let found else { throw .violation("an argument that is not JSON") }
        return found.flatMap { before.getSlice(at: before.readerIndex + $0.lowerBound, length: $0.count) }
    }

    // MARK: - Writing

    func write(_ message: HubMessage, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"type\":")
        switch message {
        case .invocation(let id, let target, let arguments, let streams, let headers, let isStream):
            buffer.writeStaticString(isStream ? "4" : "1")
            if !headers.isEmpty { buffer.writeJSONMember("headers", headers) }
            if let id { buffer.writeJSONMember("invocationId", id) }
            buffer.writeJSONMember("target", target)
            buffer.writeStaticString(",\"arguments\":")
            buffer.writeImmutableBuffer(arguments)
            if !streams.isEmpty { buffer.writeJSONMember("streamIds", streams) }
        case .streamItem(let id, let item):
            buffer.writeStaticString("2")
            buffer.writeJSONMember("invocationId", id)
            buffer.writeStaticString(",\"item\":")
            buffer.writeImmutableBuffer(item)
        case .completion(let id, let completion):
            buffer.writeStaticString("3")
            buffer.writeJSONMember("invocationId", id)
            switch completion {
            case .void: break
            case .value(let value):
                buffer.writeStaticString(",\"result\":")
                buffer.writeImmutableBuffer(value)
            case .error(let text): buffer.writeJSONMember("error", text)
            }
        case .cancelInvocation(let id):
            buffer.writeStaticString("5")
            buffer.writeJSONMember("invocationId", id)
        case .ping: buffer.writeStaticString("6")
        case .close(let error, let allowReconnect):
            buffer.writeStaticString("7")
            if let error { buffer.writeJSONMember("error", error) }
            if allowReconnect { buffer.writeStaticString(",\"allowReconnect\":true") }
        case .ack(let number): buffer.writeString("8,\"sequenceId\":\(number)")
        case .sequence(let number): buffer.writeString("9,\"sequenceId\":\(number)")
        }
        buffer.writeInteger(UInt8(ascii: "}"))
        buffer.writeInteger(Self.recordSeparator)
    }

    // MARK: - Reading

    func read(_ bytes: ByteBuffer) throws(SignalRError) -> HubMessage? {
        let members = try JSONMembers(bytes)
        guard let type = try members.integer("type") else {
            throw .violation("a message without a type: \(bytes.excerpt)")
        }
        switch type {
        case 1, 4:
            return .invocation(
                id: try type == 4 ? members.required("invocationId") : members.string("invocationId"),
                target: try members.required("target"), arguments: try members.required("arguments"),
                streams: try members.value("streamIds", decoder) ?? [],
                headers: try members.value("headers", decoder) ?? [:], isStream: type == 4)
        case 2:
            return .streamItem(id: try members.required("invocationId"), item: try members.required("item"))
        case 3: return .completion(id: try members.required("invocationId"), try completion(members))
        case 5: return .cancelInvocation(id: try members.required("invocationId"))
        case 6: return .ping
        case 7:
            return .close(
                error: try members.string("error"),
                allowReconnect: try members.value("allowReconnect", decoder) ?? false)
        case 8, 9:
            guard let number = try members.integer("sequenceId"), number >= 0 else {
                throw .violation("a sequence without its number: \(bytes.excerpt)")
            }
            return type == 8 ? .ack(number) : .sequence(number)
        default: return nil
        }
    }

    private func completion(_ members: JSONMembers) throws(SignalRError) -> HubCompletion {
        let result = members["result"]
        guard let error = try members.string("error") else { return result.map { .value($0) } ?? .void }
        guard result == nil || members.isNull("result") else {
            throw .violation("a completion with both a result and an error")
        }
        return .error(error)
    }
}

extension ByteBuffer {
    /// Reads JSON at the reader index and moves the index past it; `nil` if `body` finds nothing.
    mutating func scan<Found>(_ body: (inout JSONReader) -> Found?) -> Found? {
        readWithUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            let found = body(&reader)
            return (found == nil ? 0 : reader.position, found)
        }
    }

    var jsonString: String? {
        withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            let text = reader.string()
            return reader.isAtEnd() ? text : nil
        }
    }

    /// The beginning of the text, for error messages.
    var excerpt: String {
        let maximum = 100
        let text = String(decoding: readableBytesView.prefix(maximum), as: UTF8.self)
        return readableBytes > maximum ? text + "…" : text
    }

    /// Appends a member to an object that has others already.
    fileprivate mutating func writeJSONMember(_ name: String, _ text: String) {
        writeString(",\"\(name)\":")
        writeJSONString(text)
    }

    fileprivate mutating func writeJSONMember(_ name: String, _ texts: some Encodable) {
        writeString(",\"\(name)\":")
        writeBytes((try? JSONEncoder.hub.encode(texts)) ?? Data())
    }

    mutating func writeJSONString(_ text: String) {
        writeStaticString("\"")
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""): writeStaticString("\\\"")
                case UInt8(ascii: "\\"): writeStaticString("\\\\")
                case 0x0A: writeStaticString("\\n")
                case 0x0D: writeStaticString("\\r")
                case 0x09: writeStaticString("\\t")
                case ..<0x20: writeString("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
                default: writeInteger(byte)
                }
            }
        } else {
            writeString(text)
        }
        writeStaticString("\"")
    }
}

/// The members of a hub message's JSON object, located but not yet decoded.
struct JSONMembers {
    private static let names = [
        "type", "invocationId", "target", "arguments", "item", "result", "error", "streamIds", "headers",
        "allowReconnect", "sequenceId",
    ]

    private let bytes: ByteBuffer
    private var ranges: [String: Range<Int>] = [:]

    init(_ bytes: ByteBuffer) throws(SignalRError) {
        self.bytes = bytes
        let isObject = bytes.withUnsafeReadableBytes { bytes in
            var reader = JSONReader(bytes)
            return reader.object { name, reader in
                guard let range = reader.skip() else { return false }
                if Self.names.contains(name) { ranges[name] = range }
                return true
            } && reader.isAtEnd()
        }
        guard isObject else { throw .violation("a message that is not a JSON object: \(bytes.excerpt)") }
    }

    subscript(_ name: String) -> ByteBuffer? {
        guard let range = ranges[name] else { return nil }
        return bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count)
    }

    func isNull(_ name: String) -> Bool { self[name].map { $0.readableBytesView.elementsEqual("null".utf8) } ?? false }

    func value<Value: Decodable>(_ name: String, _ decoder: JSONDecoder) throws(SignalRError) -> Value? {
        guard let value = self[name], !isNull(name) else { return nil }
        do {
            return try decoder.decodeRepairing(Value.self, from: value)
        } catch {
            throw .violation("'\(name)' is \(value.excerpt)", cause: error)
        }
    }

    func string(_ name: String) throws(SignalRError) -> String? {
        guard let value = self[name], !isNull(name) else { return nil }
        guard let text = value.jsonString else { throw .violation("'\(name)' is \(value.excerpt)") }
        return text
    }

    func integer(_ name: String) throws(SignalRError) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let number = Int64(String(decoding: value.readableBytesView, as: UTF8.self)) else {
            throw .violation("'\(name)' is \(value.excerpt)")
        }
        return number
    }

    func required(_ name: String) throws(SignalRError) -> String {
        guard let text = try string(name) else { throw .violation("a message without '\(name)': \(bytes.excerpt)") }
        return text
    }

    func required(_ name: String) throws(SignalRError) -> ByteBuffer {
        guard let value = self[name] else { throw .violation("a message without '\(name)': \(bytes.excerpt)") }
        return value
    }
}

extension JSONDecoder {
    /// Decodes the value in the bytes. JSON may escape half a surrogate pair, which a Swift string cannot hold: it is
    /// read as U+FFFD, like other invalid text.
    func decodeRepairing<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws -> Value {
        do {
            return try decode(type, from: bytes)
        } catch {
            guard let repaired = bytes.replacingLoneSurrogates() else { throw error }
            return try decode(type, from: repaired)
        }
    }
}

extension ByteBuffer {
    /// JSON with the escapes of half surrogate pairs replaced; `nil` if there are none.
    func replacingLoneSurrogates() -> ByteBuffer? {
        let view = readableBytesView
        var (repaired, isRepaired) = (self, false)
        var index = view.startIndex
        while let escape = view[index...].firstIndex(of: UInt8(ascii: "\\")) {
            let width = min(2, view.endIndex - escape)
            index = escape + width
            guard let unit = Self.escapedUnit(view, escape) else { continue }
            index = escape + 6
            if unit & 0xFC00 == 0xD800, let low = Self.escapedUnit(view, index), low & 0xFC00 == 0xDC00 {
                index += 6
            } else if unit & 0xF800 == 0xD800 {
                repaired.setString("\\ufffd", at: escape)
                isRepaired = true
            }
        }
        return isRepaired ? repaired : nil
    }

    /// The code unit of an escape such as `\u00e9` at an index, if there is one.
    private static func escapedUnit(_ view: ByteBufferView, _ index: Int) -> UInt16? {
        guard view.endIndex - index >= 6, view[index] == UInt8(ascii: "\\"), view[index + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt16(String(decoding: view[index + 2..<index + 6], as: UTF8.self), radix: 16)
    }
}
