import NIOCore
import NIOFoundationEssentialsCompat

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
    private var ranges: [(name: String, range: Range<Int>)] = []

    init(_ bytes: ByteBuffer) throws(SignalRError) {
        self.bytes = bytes
        let found = bytes.withUnsafeReadableBytes { raw in try? Self.find(raw) }
        guard let found else { throw .violation("a message that is not a JSON object: \(bytes.excerpt)") }
        ranges = found
    }

    private static func find(_ raw: UnsafeRawBufferPointer) throws(JSONScanner.Failure) -> [(String, Range<Int>)] {
        var found: [(String, Range<Int>)] = []
        var scanner = JSONScanner(raw)
        try scanner.expect(UInt8(ascii: "{"))
        if !scanner.take(UInt8(ascii: "}")) {
            repeat {
                let key = UnsafeRawBufferPointer(rebasing: raw[try scanner.string()])
                try scanner.expect(UInt8(ascii: ":"))
                let range = try scanner.value()
                if let name = names.first(where: { $0.utf8.elementsEqual(key) }) {
                    found.removeAll { $0.0 == name }
                    found.append((name, range))
                }
            } while scanner.take(UInt8(ascii: ","))
            try scanner.expect(UInt8(ascii: "}"))
        }
        guard scanner.peek() == nil else { throw JSONScanner.Failure() }
        return found
    }

    /// The bytes of a value.
    subscript(_ name: String) -> ByteBuffer? {
        guard let range = ranges.first(where: { $0.name == name })?.range else { return nil }
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
        if let text = self[name]?.plainJSONString { return text }
        return try value(name, JSONDecoder())
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
