/// What the MCAP format is made of (https://mcap.dev/spec): a file is `magic · records · magic`, and a record `opcode UInt8 ·
/// length UInt64 · content`. All numbers are little-endian, strings and lists have their length in bytes before them, in
/// four bytes.
enum MCAP {
    static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]

    enum Opcode: UInt8 {
        case header = 1
        case footer = 2
        case schema = 3
        case channel = 4
        case message = 5
        case chunk = 6
        case messageIndex = 7
        case chunkIndex = 8
        case attachment = 9
        case attachmentIndex = 10
        case statistics = 11
        case metadata = 12
        case metadataIndex = 13
        case summaryOffset = 14
        case dataEnd = 15
    }

    /// The bytes before a record's content.
    static let recordHeaderByteCount = 9
    /// The bytes before a message's own data: channel, sequence and two times.
    static let messageHeaderByteCount = 22
    /// A footer with its header.
    static let footerByteCount = 29
    static let dataEndByteCount = 13

    /// Text or binary entries by name. The order is kept.
    typealias Metadata = [(key: String, value: String)]

    struct Schema {
        /// From 1: a channel without a schema has 0.
        var id: UInt16
        var name: String
        var encoding: String
        var data: [UInt8]
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
        var sequence: UInt32
        /// When it was recorded, in nanoseconds since 1970.
        var logTime: UInt64
        var publishTime: UInt64
        var data: [UInt8]
    }

    struct ChunkHeader {
        /// The time of its first message; 0 if it has none.
        var startTime: UInt64
        var endTime: UInt64
        /// Of the records.
        var byteCount: UInt64
        /// 0 for none.
        var checksum: UInt32
        /// Empty for none.
        var compression: String
    }

    struct ChunkIndex {
        /// Where the chunk is in the file, from its opcode on.
        var offset: UInt64
        var byteCount: UInt64
        var startTime: UInt64
        var endTime: UInt64
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
        /// By channel.
        var messageCounts: [UInt16: UInt64] = [:]
    }

    struct Footer {
        /// Where the summary begins; 0 if there is none.
        var summaryStart: UInt64
    }
}
