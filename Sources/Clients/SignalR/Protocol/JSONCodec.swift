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
            let what = type == HubValue.self || type == [HubValue].self ? "cannot be read" : "is no \(type)"
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
    /// Reads JSON from the reader index on, which moves behind what was read; `nil` if nothing is found.
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

    /// Appends a member of an object, behind others.
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
