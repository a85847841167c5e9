import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value while it is encoded as MessagePack. The number of values that it contains is only known at the end.
///
/// Structures are maps keyed by name, `Data` and `[UInt8]` are binary, `Date` is a timestamp.
final class MessagePackNode: Encoder, SingleValueEncodingContainer {
    private enum Kind { case nothing, scalar, array, map }

    /// The maximum depth of nesting, for writing and reading.
    static var maximumDepth: Int { 64 }

    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var kind = Kind.nothing
    private var scalar = ByteBuffer()
    private var items: [(key: String, node: MessagePackNode)] = []

    var count: Int { items.count }

    private init(codingPath: [any CodingKey]) { self.codingPath = codingPath }

    static func encode<Value: Encodable>(_ value: Value, into buffer: inout ByteBuffer) throws {
        let node = MessagePackNode(codingPath: [])
        try node.encode(value)
        node.write(into: &buffer)
    }

    private func set(_ write: (inout ByteBuffer) throws -> Void) rethrows {
        kind = .scalar
        items = []
        scalar = ByteBuffer()
        try write(&scalar)
    }

    /// Adds a value of a map. A key that is set again keeps only its new value.
    func append(_ key: any CodingKey) -> MessagePackNode {
        let node = MessagePackNode(codingPath: codingPath + [key])
        guard kind == .map else { return node }
        if let index = items.firstIndex(where: { $0.key == key.stringValue }) {
            items[index].node = node
        } else {
            items.append((key.stringValue, node))
        }
        return node
    }

    func append() -> MessagePackNode {
        let node = MessagePackNode(codingPath: codingPath + [MessagePackKey(intValue: count)])
        if kind == .array { items.append(("", node)) }
        return node
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if kind == .nothing { kind = .map }
        return KeyedEncodingContainer(MessagePackKeyedEncoding(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if kind == .nothing { kind = .array }
        return MessagePackUnkeyedEncoding(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { set { $0.writeMessagePackNull() } }

    func encode<Value: Encodable>(_ value: Value) throws {
        guard codingPath.count < Self.maximumDepth else {
            let what = "values are nested deeper than \(Self.maximumDepth)"
            throw EncodingError.invalidValue(value, .init(codingPath: codingPath, debugDescription: what))
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
        default: try value.encode(to: self)
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

private struct MessagePackKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: MessagePackNode
    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil(forKey key: Key) { node.append(key).encodeNil() }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try node.append(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        node.append(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { node.append(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { node.append(MessagePackKey(stringValue: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { node.append(key) }
}

private struct MessagePackUnkeyedEncoding: UnkeyedEncodingContainer {
    let node: MessagePackNode
    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.count }

    func encodeNil() { node.append().encodeNil() }

    func encode<Value: Encodable>(_ value: Value) throws { try node.append().encode(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        node.append().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node.append().unkeyedContainer() }

    func superEncoder() -> any Encoder { node.append() }
}

struct MessagePackKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("Index \(intValue)", intValue) }
}
