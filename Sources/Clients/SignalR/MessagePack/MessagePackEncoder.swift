import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value while it is being encoded as MessagePack: how many values it contains is only known at the end.
///
/// Structures are maps keyed by name, `Data` and `[UInt8]` are binary, `Date` is a timestamp.
final class MessagePackNode {
    enum Kind {
        case nothing, scalar, array, map
    }

    /// The deepest nesting that is written and read.
    static var maximumDepth: Int { 64 }

    private var kind = Kind.nothing
    private var scalar = ByteBuffer()
    private var items: [(key: String, node: MessagePackNode)] = []

    var count: Int { items.count }

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` or ``MessagePackError``.
    static func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws {
        let node = MessagePackNode()
        try node.encode(value, path: [])
        node.write(into: &buffer)
    }

    func become(_ kind: Kind) { if self.kind == .nothing { self.kind = kind } }

    func set(_ write: (inout ByteBuffer) throws -> Void) rethrows {
        kind = .scalar
        items = []
        scalar = ByteBuffer()
        try write(&scalar)
    }

    /// Adds a value of an array, or of a map if it has a key. A key that is set again keeps only its new value.
    func append(_ key: String? = nil) -> MessagePackNode {
        let node = MessagePackNode()
        guard kind == (key == nil ? .array : .map) else { return node }
        if let key, let index = items.firstIndex(where: { $0.key == key }) {
            items[index].node = node
        } else {
            items.append((key ?? "", node))
        }
        return node
    }

    func encode<Value: Encodable>(_ value: Value, path: [any CodingKey]) throws {
        guard path.count < Self.maximumDepth else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path, debugDescription: "values are nested deeper than \(Self.maximumDepth)"))
        }
        // Not a cast: that would turn an empty array of any type into an empty array of bytes.
        if Value.self == [UInt8].self, let bytes = value as? [UInt8] {
            return set { $0.writeMessagePack(binary: bytes) }
        }
        switch value {
        case let flag as Bool: set { $0.writeMessagePack(flag) }
        case let text as String: set { $0.writeMessagePack(text) }
        case let number as Double: set { $0.writeMessagePack(number) }
        case let number as Float: set { $0.writeMessagePack(number) }
        case let number as any FixedWidthInteger where number.bitWidth <= 64:
            set { buffer in
                guard let signed = Int64(exactly: number) else {
                    return buffer.writeMessagePack(UInt64(truncatingIfNeeded: number))
                }
                buffer.writeMessagePack(signed)
            }
        case let data as Data: set { $0.writeMessagePack(binary: data) }
        case let date as Date: try set { try MessagePackTimestamp.write(date, into: &$0) }
        case let url as URL: set { $0.writeMessagePack(url.absoluteString) }
        default: try value.encode(to: MessagePackNodeEncoder(node: self, codingPath: path))
        }
    }

    private func write(into buffer: inout ByteBuffer) {
        switch kind {
        // A value that encodes nothing, such as a structure without members, is an empty map.
        case .nothing, .map: buffer.writeMessagePack(mapOf: items.count)
        case .scalar: buffer.writeImmutableBuffer(scalar)
        case .array: buffer.writeMessagePack(arrayOf: items.count)
        }
        for (key, item) in items {
            if kind == .map { buffer.writeMessagePack(key) }
            item.write(into: &buffer)
        }
    }
}

struct MessagePackNodeEncoder: Encoder, SingleValueEncodingContainer {
    let node: MessagePackNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.become(.map)
        return KeyedEncodingContainer(MessagePackKeyedEncoding(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.become(.array)
        return MessagePackUnkeyedEncoding(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.set { $0.writeMessagePackNull() } }

    func encode<Value: Encodable>(_ value: Value) throws { try node.encode(value, path: codingPath) }
}

private struct MessagePackKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: MessagePackNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { node.append(key.stringValue).set { $0.writeMessagePackNull() } }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try node.append(key.stringValue).encode(value, path: codingPath + [key])
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }

    func superEncoder() -> any Encoder {
        MessagePackNodeEncoder(node: node.append("super"), codingPath: codingPath)
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: Key) -> MessagePackNodeEncoder {
        MessagePackNodeEncoder(node: node.append(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct MessagePackUnkeyedEncoding: UnkeyedEncodingContainer {
    let node: MessagePackNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { node.append().set { $0.writeMessagePackNull() } }

    func encode<Value: Encodable>(_ value: Value) throws {
        try node.append().encode(value, path: codingPath + [MessagePackIndex(count)])
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> MessagePackNodeEncoder {
        MessagePackNodeEncoder(node: node.append(), codingPath: codingPath + [MessagePackIndex(count)])
    }
}

struct MessagePackIndex: CodingKey {
    let index: Int
    init(_ index: Int) { self.index = index }
    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { index = intValue }
}
