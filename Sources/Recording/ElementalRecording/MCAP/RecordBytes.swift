/// Bytes of MCAP records, as they are put together.
struct RecordBytes {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }

    /// - Parameter limit: the most memory that is kept, in bytes.
    mutating func removeAll(keeping limit: Int) { bytes.removeAll(keepingCapacity: bytes.capacity <= limit) }

    mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ content: some Sequence<UInt8>) { bytes.append(contentsOf: content) }

    /// A string with its length.
    mutating func add(string: String) {
        add(UInt32(string.utf8.count))
        bytes.append(contentsOf: string.utf8)
    }

    mutating func add(_ metadata: MCAP.Metadata) {
        counted { bytes in
            for (key, value) in metadata {
                bytes.add(string: key)
                bytes.add(string: value)
            }
        }
    }

    /// Content with its length in four bytes.
    mutating func counted(_ body: (inout RecordBytes) -> Void) {
        let start = count
        add(UInt32(0))
        body(&self)
        set(UInt32(count - start - 4), at: start)
    }

    /// A record with its opcode and length.
    mutating func record(_ opcode: MCAP.Opcode, _ body: (inout RecordBytes) -> Void) {
        let start = count
        add(opcode.rawValue)
        add(UInt64(0))
        body(&self)
        set(UInt64(count - start - MCAP.recordHeaderByteCount), at: start + 1)
    }

    private mutating func set(_ number: some FixedWidthInteger, at place: Int) {
        withUnsafeBytes(of: number.littleEndian) { source in
            for (position, byte) in source.enumerated() { bytes[place + position] = byte }
        }
    }
}

extension RecordBytes {
    mutating func add(_ schema: MCAP.Schema) {
        record(.schema) { bytes in
            bytes.add(schema.id)
            bytes.add(string: schema.name)
            bytes.add(string: schema.encoding)
            bytes.add(UInt32(schema.data.count))
            bytes.add(schema.data)
        }
    }

    mutating func add(_ channel: MCAP.Channel) {
        record(.channel) { bytes in
            bytes.add(channel.id)
            bytes.add(channel.schemaID)
            bytes.add(string: channel.topic)
            bytes.add(string: channel.messageEncoding)
            bytes.add(channel.metadata)
        }
    }

    mutating func add(_ statistics: MCAP.Statistics) {
        record(.statistics) { bytes in
            bytes.add(statistics.messageCount)
            bytes.add(statistics.schemaCount)
            bytes.add(statistics.channelCount)
            bytes.add(UInt32(0))
            bytes.add(statistics.metadataCount)
            bytes.add(statistics.chunkCount)
            bytes.add(statistics.startTime)
            bytes.add(statistics.endTime)
            bytes.counted { bytes in
                for (channel, count) in statistics.messageCounts.sorted(by: { $0.key < $1.key }) where count > 0 {
                    bytes.add(channel)
                    bytes.add(count)
                }
            }
        }
    }
}
