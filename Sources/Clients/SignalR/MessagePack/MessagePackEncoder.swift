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
    private enum Content {
        case nothing
        case scalar(ByteBuffer)
        case array([MessagePackNode])
        case map([(String, MessagePackNode)])
    }

    /// The deepest nesting that is written and read.
    static var maximumDepth: Int { 64 }

    private var content = Content.nothing

    var count: Int {
        switch content {
        case .nothing, .scalar: 0
        case .array(let items): items.count
        case .map(let items): items.count
        }
    }

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` or ``MessagePackError``.
    static func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws {
        let node = MessagePackNode()
        try node.encode(value, path: [])
        node.write(into: &buffer)
    }

    func becomeArray() { if case .nothing = content { content = .array([]) } }

    func becomeMap() { if case .nothing = content { content = .map([]) } }

    func set(_ write: (inout ByteBuffer) throws -> Void) rethrows {
        var buffer = ByteBuffer()
        try write(&buffer)
        content = .scalar(buffer)
    }

    func append() -> MessagePackNode {
        let node = MessagePackNode()
        guard case .array(var items) = content else { return node }
        content = .nothing
        items.append(node)
        content = .array(items)
        return node
    }

    func append(_ key: String) -> MessagePackNode {
        let node = MessagePackNode()
        guard case .map(var items) = content else { return node }
        content = .nothing
        // A key that is set again keeps only its new value.
        if let index = items.firstIndex(where: { $0.0 == key }) {
            items[index].1 = node
        } else {
            items.append((key, node))
        }
        content = .map(items)
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
        switch content {
        case .nothing:
            // A value that encodes nothing, such as a structure without members.
            buffer.writeMessagePack(mapOf: 0)
        case .scalar(let bytes):
            buffer.writeImmutableBuffer(bytes)
        case .array(let items):
            buffer.writeMessagePack(arrayOf: items.count)
            for item in items { item.write(into: &buffer) }
        case .map(let items):
            buffer.writeMessagePack(mapOf: items.count)
            for (key, item) in items {
                buffer.writeMessagePack(key)
                item.write(into: &buffer)
            }
        }
    }
}

struct MessagePackNodeEncoder: Encoder, SingleValueEncodingContainer {
    let node: MessagePackNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeMap()
        return KeyedEncodingContainer(MessagePackKeyedEncoding(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
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

/// The position of a value in an array.
struct MessagePackIndex: CodingKey {
    let index: Int
    init(_ index: Int) { self.index = index }
    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { index = intValue }
}
