internal import ElementalWire

/// The structure of the MCAP format (https://mcap.dev/spec): a file is `magic · records · magic`, and a record is
/// `opcode UInt8 · length UInt64 · content`. All numbers are little-endian. Strings and lists are preceded by their
/// length in bytes, in four bytes.
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

    /// Texts by name, in order.
    typealias Metadata = [(key: String, value: String)]

    struct Schema {
        /// At least 1: 0 stands for a channel without a schema.
        var id: UInt16
        var name: String
        var text: String
    }

    struct Channel {
        var id: UInt16
        var schemaID: UInt16
        /// The name that tools show for the channel.
        var topic: String
        var messageEncoding: String
        var metadata: Metadata
    }

    struct Message {
        var channelID: UInt16
        /// When it was recorded, in nanoseconds since 1970.
        var logTime: UInt64
        /// When it was measured, if known, otherwise when it was recorded.
        var publishTime: UInt64
        var data: [UInt8]
    }

    struct ChunkIndex {
        /// The offset of the chunk's opcode in the file.
        var offset: UInt64
        var byteCount: UInt64
        /// The channels with messages in the chunk; empty if unknown.
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

// Decoding of records. Every length is checked: truncated or contradictory content gives `nil`.
extension ByteReader {
    mutating func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
        bytes(MemoryLayout<Number>.size).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// Reads bytes that are preceded by their count in four bytes.
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
        // Skips two times.
        guard bytes(16) != nil, let offset = integer(UInt64.self), let count = integer(UInt64.self),
            let channels = list({ reader in
                reader.integer(UInt16.self).flatMap { channel in reader.bytes(8).map { _ in channel } }
            })
        else { return nil }
        return MCAP.ChunkIndex(offset: offset, byteCount: count, channels: channels)
    }

    mutating func statistics() -> MCAP.Statistics? {
        // Skips the numbers of messages, schemas, channels, attachments, metadata and chunks.
        guard bytes(26) != nil, let start = integer(UInt64.self), let end = integer(UInt64.self),
            let counts = list({ reader in
                reader.integer(UInt16.self).flatMap { channel in reader.integer(UInt64.self).map { (channel, $0) } }
            })
        else { return nil }
        return MCAP.Statistics(
            startTime: start, endTime: end, messageCounts: Dictionary(counts) { _, last in last })
    }
}
