internal import ElementalWire

/// What the MCAP format is made of (https://mcap.dev/spec): a file is `magic · records · magic`, and a record `opcode UInt8 ·
/// length UInt64 · content`. All numbers are little-endian, strings and lists have their length in bytes before them, in
/// four bytes.
enum MCAP {
    static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

    enum Opcode: UInt8 {
        case header = 1
        case footer, schema, channel, message, chunk, messageIndex, chunkIndex, attachment, attachmentIndex, statistics
        case metadata, metadataIndex, summaryOffset, dataEnd
    }

    static let recordHeaderByteCount = 9
    /// The bytes before a message's own data: channel, sequence and two times.
    static let messageHeaderByteCount = 22
    static let footerByteCount = 29
    static let dataEndByteCount = 13

    /// Text or binary entries by name. The order is kept.
    typealias Metadata = [(key: String, value: String)]

    struct Schema {
        /// From 1: a channel without a schema has 0.
        var id: UInt16
        var name: String
        var text: String
    }

    struct Channel {
        var id: UInt16
        var schemaID: UInt16
        /// The name under which tools show the channel.
        var topic: String
        var messageEncoding: String
        var metadata: Metadata
    }

    struct Message {
        var channelID: UInt16
        /// When it was recorded, in nanoseconds since 1970.
        var logTime: UInt64
        /// When it was measured, or else recorded.
        var publishTime: UInt64
        var data: [UInt8]
    }

    struct ChunkIndex {
        /// Where the chunk is in the file, from its opcode on.
        var offset: UInt64
        var byteCount: UInt64
        /// The channels that have messages in the chunk; empty if that is not known.
        var channels: [UInt16]
    }

    struct Statistics {
        var messageCount: UInt64 = 0
        var schemaCount: UInt16 = 0
        var channelCount: UInt32 = 0
        var metadataCount: UInt32 = 0
        var chunkCount: UInt32 = 0
        var startTime: UInt64 = 0
        var endTime: UInt64 = 0
        var messageCounts: [UInt16: UInt64] = [:]
    }
}

// The content of records. Every length is checked: what is cut off or contradicts itself is `nil`.
extension ByteReader {
    mutating func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
        bytes(MemoryLayout<Number>.size).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// Bytes with their number in four bytes before them.
    mutating func counted() -> UnsafeRawBufferPointer? { integer(UInt32.self).flatMap { bytes(Int($0)) } }

    mutating func string() -> String? { counted().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func list<Entry>(_ entry: (inout ByteReader) -> Entry?) -> [Entry]? {
        guard var reader = counted().map({ ByteReader($0) }) else { return nil }
        var entries: [Entry] = []
        while !reader.isAtEnd {
            guard let entry = entry(&reader) else { return nil }
            entries.append(entry)
        }
        return entries
    }

    mutating func channel() -> MCAP.Channel? {
        guard let id = integer(UInt16.self), let schema = integer(UInt16.self), let topic = string(),
            let encoding = string(),
            let metadata = list({ reader in
                reader.string().flatMap { key in reader.string().map { (key: key, value: $0) } }
            })
        else { return nil }
        return MCAP.Channel(id: id, schemaID: schema, topic: topic, messageEncoding: encoding, metadata: metadata)
    }

    mutating func chunkIndex() -> MCAP.ChunkIndex? {
        // Behind two times.
        guard bytes(16) != nil, let offset = integer(UInt64.self), let count = integer(UInt64.self),
            let channels = list({ reader in
                reader.integer(UInt16.self).flatMap { channel in reader.bytes(8).map { _ in channel } }
            })
        else { return nil }
        return MCAP.ChunkIndex(offset: offset, byteCount: count, channels: channels)
    }

    mutating func statistics() -> MCAP.Statistics? {
        // Behind the numbers of messages, schemas, channels, attachments, metadata and chunks.
        guard bytes(26) != nil, let start = integer(UInt64.self), let end = integer(UInt64.self),
            let counts = list({ reader in
                reader.integer(UInt16.self).flatMap { channel in reader.integer(UInt64.self).map { (channel, $0) } }
            })
        else { return nil }
        return MCAP.Statistics(
            startTime: start, endTime: end, messageCounts: Dictionary(counts) { _, last in last })
    }
}
