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

    /// The bytes of a value.
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
