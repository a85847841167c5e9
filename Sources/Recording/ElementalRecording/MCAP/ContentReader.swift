internal import ElementalWire

/// Reads the content of a record. Every length is checked: what is cut off or contradicts itself is `nil`.
struct ContentReader {
    private var reader: ByteReader

    init(_ bytes: UnsafeRawBufferPointer) { reader = ByteReader(bytes) }

    var isAtEnd: Bool { reader.isAtEnd }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? { reader.bytes(count) }

    mutating func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
        reader.bytes(MemoryLayout<Number>.size).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    /// Bytes with their number in four bytes before them.
    mutating func counted() -> UnsafeRawBufferPointer? {
        guard let count = integer(UInt32.self) else { return nil }
        return reader.bytes(Int(count))
    }

    /// A string of UTF-8.
    mutating func string() -> String? { counted().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func metadata() -> MCAP.Metadata? {
        guard let bytes = counted() else { return nil }
        var reader = ContentReader(bytes)
        var metadata: MCAP.Metadata = []
        while !reader.isAtEnd {
            guard let key = reader.string(), let value = reader.string() else { return nil }
            metadata.append((key, value))
        }
        return metadata
    }
}

extension MCAP.Schema {
    /// - Parameter content: a record's. The schema's own text is left out: nothing here reads it.
    init?(_ content: UnsafeRawBufferPointer) {
        var reader = ContentReader(content)
        guard let id = reader.integer(UInt16.self), let name = reader.string(), let encoding = reader.string() else {
            return nil
        }
        self.init(id: id, name: name, encoding: encoding, data: [])
    }
}

extension MCAP.Channel {
    init?(_ content: UnsafeRawBufferPointer) {
        var reader = ContentReader(content)
        guard let id = reader.integer(UInt16.self), let schema = reader.integer(UInt16.self),
            let topic = reader.string(),
            let encoding = reader.string(), let metadata = reader.metadata()
        else { return nil }
        self.init(id: id, schemaID: schema, topic: topic, messageEncoding: encoding, metadata: metadata)
    }
}

extension MCAP.ChunkIndex {
    init?(_ content: UnsafeRawBufferPointer) {
        var reader = ContentReader(content)
        guard let start = reader.integer(UInt64.self), let end = reader.integer(UInt64.self),
            let offset = reader.integer(UInt64.self), let count = reader.integer(UInt64.self),
            let offsets = reader.counted()
        else { return nil }
        var channels: [UInt16] = []
        var list = ContentReader(offsets)
        while !list.isAtEnd {
            guard let channel = list.integer(UInt16.self), list.integer(UInt64.self) != nil else { return nil }
            channels.append(channel)
        }
        self.init(offset: offset, byteCount: count, startTime: start, endTime: end, channels: channels)
    }
}

extension MCAP.Statistics {
    init?(_ content: UnsafeRawBufferPointer) {
        var reader = ContentReader(content)
        guard let messages = reader.integer(UInt64.self), let schemas = reader.integer(UInt16.self),
            let channels = reader.integer(UInt32.self), reader.integer(UInt32.self) != nil,
            let metadata = reader.integer(UInt32.self), let chunks = reader.integer(UInt32.self),
            let start = reader.integer(UInt64.self), let end = reader.integer(UInt64.self), let list = reader.counted()
        else { return nil }
        (messageCount, schemaCount, channelCount) = (messages, schemas, channels)
        (metadataCount, chunkCount, startTime, endTime) = (metadata, chunks, start, end)
        var counts = ContentReader(list)
        while !counts.isAtEnd {
            guard let channel = counts.integer(UInt16.self), let count = counts.integer(UInt64.self) else { return nil }
            messageCounts[channel] = count
        }
    }
}
