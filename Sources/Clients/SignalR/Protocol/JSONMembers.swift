import NIOCore
import NIOFoundationEssentialsCompat
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The members of a hub message's JSON object, located but not yet decoded.
struct JSONMembers {
    private static let names = [
        "type", "invocationId", "target", "arguments", "item", "result", "error", "streamIds", "headers",
        "allowReconnect", "sequenceId",
    ]

    private let bytes: ByteBuffer
    /// The range of each member's value, by name.
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
