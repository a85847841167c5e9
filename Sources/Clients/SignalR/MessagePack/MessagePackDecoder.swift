import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decodes values from MessagePack. It is safe for bytes from the network: lengths are checked against the bytes
/// available before anything is allocated, and nesting is limited.
struct MessagePackDecoder: Sendable {
    /// Decodes the one value in the bytes.
    ///
    /// - Throws: `DecodingError` or ``MessagePackError``.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws -> Value {
        var rest = bytes
        let value = try rest.readMessagePackValue()
        guard rest.readableBytes == 0 else {
            throw MessagePackError(description: "\(rest.readableBytes) bytes follow the MessagePack value")
        }
        return try MessagePackValue(bytes: value, codingPath: []).decode(type)
    }
}

/// The bytes of one value, and its coding path.
struct MessagePackValue: Decoder {
    let bytes: ByteBuffer
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard codingPath.count < MessagePackNode.maximumDepth else {
            throw corrupted("values are nested deeper than \(MessagePackNode.maximumDepth)")
        }
        let special: Any? =
            switch type {
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

    func singleValueContainer() -> any SingleValueDecodingContainer { MessagePackSingleDecoding(value: self) }

    // MARK: - Scalars

    func item() throws -> (MessagePackItem, rest: ByteBuffer) {
        var rest = bytes
        return (try rest.readMessagePack(), rest)
    }

    var isNull: Bool { (try? item().0) == .null }

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

    func number() throws -> Double {
        switch try item().0 {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        default: throw mismatch(Double.self)
        }
    }

    /// Rounds a number to a `Float`. One beyond its range is an error, not an infinity.
    func float() throws -> Float {
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
    private let owner: MessagePackValue

    init(_ value: MessagePackValue) throws {
        owner = value
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

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try value(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try value(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let bytes = values["super"] else {
            throw DecodingError.valueNotFound(
                Decoder.self, .init(codingPath: codingPath, debugDescription: "there is no 'super'"))
        }
        return MessagePackValue(bytes: bytes, codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }

    private func value(_ key: Key) throws -> MessagePackValue {
        guard let bytes = values[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no '\(key.stringValue)'"))
        }
        return MessagePackValue(bytes: bytes, codingPath: codingPath + [key])
    }
}

private struct MessagePackUnkeyedDecoding: UnkeyedDecodingContainer {
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

    private mutating func next() throws -> MessagePackValue {
        guard !isAtEnd else { throw end() }
        defer { currentIndex += 1 }
        return MessagePackValue(
            bytes: try rest.readMessagePackValue(), codingPath: codingPath + [MessagePackIndex(currentIndex)])
    }

    private func end() -> DecodingError {
        .valueNotFound(Any.self, .init(codingPath: codingPath, debugDescription: "the array has \(total) values"))
    }
}

private struct MessagePackSingleDecoding: SingleValueDecodingContainer {
    let value: MessagePackValue
    var codingPath: [any CodingKey] { value.codingPath }

    func decodeNil() -> Bool { value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try value.bool() }
    func decode(_ type: String.Type) throws -> String { try value.string() }
    func decode(_ type: Double.Type) throws -> Double { try value.number() }
    func decode(_ type: Float.Type) throws -> Float { try value.float() }
    func decode(_ type: Int.Type) throws -> Int { try value.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try value.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try value.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try value.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try value.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try value.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value.integer(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // `type.init(from:)` asks for this container again when the type wraps only itself.
        try value.decode(type)
    }
}
