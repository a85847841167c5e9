import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bytes of one value, and its coding path.
///
/// It decodes values from MessagePack, and is safe for bytes from the network: lengths are checked against the bytes
/// available before anything is allocated, and nesting is limited.
struct MessagePackValue: Decoder, SingleValueDecodingContainer {
    let bytes: ByteBuffer
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws -> Value {
        var rest = bytes
        let value = try rest.readMessagePackValue()
        guard rest.readableBytes == 0 else {
            throw MessagePackError(description: "\(rest.readableBytes) bytes follow the MessagePack value")
        }
        return try MessagePackValue(bytes: value, codingPath: []).decode(type)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard codingPath.count < MessagePackNode.maximumDepth else {
            throw corrupted("values are nested deeper than \(MessagePackNode.maximumDepth)")
        }
        let special: Any? =
            switch type {
            case is Bool.Type: try bool()
            case is String.Type: try string()
            case is Double.Type: try number()
            case is Float.Type: try float()
            case let type as any FixedWidthInteger.Type: try integer(type)
            case is Data.Type: try binary().map { Data($0.readableBytesView) }
            case is [UInt8].Type: try binary().map { Array($0.readableBytesView) }
            case is Date.Type: try date()
            case is URL.Type: URL(string: try string())
            default: nil
            }
        if let special = special as? Value { return special }
        return try type.init(from: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try MessagePackKeyedDecoding(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try MessagePackUnkeyedDecoding(self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    // MARK: - Scalars

    func item() throws -> (MessagePackItem, rest: ByteBuffer) {
        var rest = bytes
        return (try rest.readMessagePack(), rest)
    }

    func decodeNil() -> Bool { (try? item().0) == .null }

    func bool() throws -> Bool {
        guard case (.bool(let value), _) = try item() else { throw mismatch(Bool.self) }
        return value
    }

    func string() throws -> String {
        guard case (.string, let rest) = try item() else { throw mismatch(String.self) }
        guard let text = try? rest.getUTF8ValidatedString(at: rest.readerIndex, length: rest.readableBytes) else {
            throw corrupted("a string that is not UTF-8")
        }
        return text
    }

    func stringIfPresent() throws -> String? { decodeNil() ? nil : try string() }

    /// Decodes an integer that fits the type, or a floating-point number without a fraction.
    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        let value: Value? =
            switch try item().0 {
            case .integer(let value): Value(exactly: value)
            case .unsigned(let value): Value(exactly: value)
            case .float(let value): Value(exactly: value)
            case .double(let value): Value(exactly: value)
            default: throw mismatch(type)
            }
        guard let value else { throw corrupted("a number that does not fit \(type)") }
        return value
    }

    private func number() throws -> Double {
        switch try item().0 {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        default: throw mismatch(Double.self)
        }
    }

    /// Rounds a number to a `Float`. One beyond its range is an error, not an infinity.
    private func float() throws -> Float {
        let number = try number()
        let rounded = Float(number)
        guard rounded.isFinite || !number.isFinite else { throw corrupted("a number that does not fit Float") }
        return rounded
    }

    private func binary() throws -> ByteBuffer? {
        guard case (.binary, let rest) = try item() else { return nil }
        return rest
    }

    private func date() throws -> Date {
        guard case (.extended(MessagePackTimestamp.type, _), let rest) = try item() else { throw mismatch(Date.self) }
        return try MessagePackTimestamp.read(rest)
    }

    // MARK: - Errors

    func mismatch(_ type: Any.Type) -> DecodingError {
        let found = (try? item()).map { "\($0.0)" } ?? "nothing"
        return .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "\(found) is not a \(type)"))
    }

    func corrupted(_ what: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: what))
    }
}

private struct MessagePackKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let codingPath: [any CodingKey]
    private let values: [String: ByteBuffer]

    init(_ value: MessagePackValue) throws {
        codingPath = value.codingPath
        guard case (.map(let count), var rest) = try value.item() else { throw value.mismatch([String: Any].self) }
        var values: [String: ByteBuffer] = [:]
        // Each key and each value takes at least one byte.
        values.reserveCapacity(min(count, rest.readableBytes / 2))
        for _ in 0..<count {
            let key = MessagePackValue(bytes: try rest.readMessagePackValue(), codingPath: codingPath)
            let name = try (try? key.string()) ?? String(key.integer(Int64.self))
            values[name] = try rest.readMessagePackValue()
        }
        self.values = values
    }

    var allKeys: [Key] { values.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try value(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try value(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try value(MessagePackKey(stringValue: "super")) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }

    private func value(_ key: any CodingKey) throws -> MessagePackValue {
        guard let bytes = values[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no '\(key.stringValue)'"))
        }
        return MessagePackValue(bytes: bytes, codingPath: codingPath + [key])
    }
}

struct MessagePackUnkeyedDecoding: UnkeyedDecodingContainer {
    let codingPath: [any CodingKey]
    private let total: Int
    private var rest: ByteBuffer
    private(set) var currentIndex = 0

    init(_ value: MessagePackValue) throws {
        codingPath = value.codingPath
        guard case (.array(let count), let rest) = try value.item() else { throw value.mismatch([Any].self) }
        total = count
        self.rest = rest
    }

    // All announced values are present: the whole value was measured before.
    var count: Int? { total }
    var isAtEnd: Bool { currentIndex >= total }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { throw end() }
        var ahead = rest
        guard try ahead.readMessagePack() == .null else { return false }
        rest = ahead
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }

    mutating func superDecoder() throws -> any Decoder { try next() }

    mutating func next() throws -> MessagePackValue {
        guard !isAtEnd else { throw end() }
        defer { currentIndex += 1 }
        return MessagePackValue(
            bytes: try rest.readMessagePackValue(), codingPath: codingPath + [MessagePackKey(intValue: currentIndex)])
    }

    private func end() -> DecodingError {
        .valueNotFound(Any.self, .init(codingPath: codingPath, debugDescription: "the array has \(total) values"))
    }
}

/// Points in time as the MessagePack specification's extension type -1.
enum MessagePackTimestamp {
    static var type: Int8 { -1 }

    static func write(_ date: Date, into buffer: inout ByteBuffer) throws(MessagePackError) {
        let time = date.timeIntervalSince1970
        guard let seconds = Int64(exactly: time.rounded(.down)) else {
            throw MessagePackError(description: "the date \(time) s after 1970 is out of range")
        }
        let nanoseconds = UInt32(min(((time - time.rounded(.down)) * 1e9).rounded(), 999_999_999))
        switch seconds {
        case 0...Int64(UInt32.max) where nanoseconds == 0:
            buffer.writeMultipleIntegers(UInt8(0xD6), type, UInt32(seconds))
        case 0..<1 << 34:
            buffer.writeMultipleIntegers(UInt8(0xD7), type, UInt64(nanoseconds) << 34 | UInt64(seconds))
        default:
            buffer.writeMultipleIntegers(UInt8(0xC7), UInt8(12), type, nanoseconds, seconds)
        }
    }

    static func read(_ body: ByteBuffer) throws(MessagePackError) -> Date {
        var body = body
        let (seconds, nanoseconds): (Int64, UInt32)
        switch body.readableBytes {
        case 4: (seconds, nanoseconds) = (Int64(body.readInteger(as: UInt32.self) ?? 0), 0)
        case 8:
            let both = body.readInteger(as: UInt64.self) ?? 0
            (seconds, nanoseconds) = (Int64(both & (1 << 34 - 1)), UInt32(both >> 34))
        case 12: (nanoseconds, seconds) = (body.readInteger() ?? 0, body.readInteger() ?? 0)
        default: throw MessagePackError(description: "a timestamp of \(body.readableBytes) bytes")
        }
        guard nanoseconds < 1_000_000_000 else {
            throw MessagePackError(description: "a timestamp with \(nanoseconds) ns")
        }
        return Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
    }
}
