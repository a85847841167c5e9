internal import ElementalWire
internal import Support

/// Reads the records of an MCAP file one after the other, including those in chunks. It blocks.
///
/// A truncated file, which is still being written or whose recorder was killed, is read up to its last whole record.
/// Memory is limited whatever the file contains: a window of 256 KiB, or one record up to ``longestMessage``.
struct MCAPCursor {
    enum Record {
        case channel(MCAP.Channel)
        case message(MCAP.Message)
        case chunkIndex(MCAP.ChunkIndex)
        case statistics(MCAP.Statistics)
        case dataEnd
        /// The offset of the summary; 0 if there is none.
        case footer(UInt64)
        /// A record that is not decoded: not needed here, or unknown.
        case other
    }

    /// The maximum length of a message in bytes: the longest value of a connection's default limits, in base64.
    static let longestMessage = 180 << 20
    private static let longestRecord = 4 << 20
    private static let windowByteCount = 256 << 10

    private let source: RecordingFile
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    /// The offset of the next record.
    private(set) var offset: UInt64
    private let end: UInt64
    /// The current chunk: its end, and the expected checksum of its records; 0 if it is not checked.
    private var chunk: (end: UInt64, expected: UInt32)?
    private var checksum = CRC32()

    private(set) var isCutOff = false
    private(set) var damagedChunkCount = 0
    /// The number of skipped records: too long or invalid.
    private(set) var skippedRecordCount = 0
    /// Whether to read messages without their data, which is faster.
    var skipsMessageData = false

    init(_ source: RecordingFile, at offset: UInt64 = UInt64(MCAP.magic.count), end: UInt64? = nil) {
        self.source = source
        self.offset = offset
        self.end = min(end ?? source.byteCount, source.byteCount)
    }

    static func checkMagic(of source: RecordingFile, _ path: String) throws(RecordingError) {
        guard try source.read(at: 0, MCAP.magic.count) == MCAP.magic else {
            throw RecordingError(.notMCAP, "\(path) is not an MCAP file: its first bytes are wrong")
        }
    }

    /// Returns the offset of the summary; 0 if the file has none, `nil` if the file has no end.
    static func summaryStart(of source: RecordingFile) throws(RecordingError) -> UInt64? {
        let end = UInt64(MCAP.footerByteCount + MCAP.magic.count)
        guard source.byteCount >= end + UInt64(MCAP.magic.count) else { return nil }
        var cursor = MCAPCursor(source, at: source.byteCount - end)
        guard case .footer(let start) = try cursor.next(),
            cursor.offset == source.byteCount - UInt64(MCAP.magic.count)
        else { return nil }
        return start
    }

    /// Returns the next record; `nil` at the end, and where the file is truncated.
    ///
    /// - Throws: ``RecordingError`` with the code ``RecordingError/Code/compressed`` for a compressed chunk, and if the
    ///   file cannot be read.
    mutating func next() throws(RecordingError) -> Record? {
        if let chunk, offset >= chunk.end {
            if chunk.expected != 0, checksum.value != chunk.expected { damagedChunkCount += 1 }
            self.chunk = nil
        }
        let limit = chunk?.end ?? end
        guard limit > offset else { return nil }
        guard limit - offset >= UInt64(MCAP.recordHeaderByteCount) else {
            // The magic bytes at the end are shorter than a record header.
            if chunk == nil { isCutOff = limit - offset != UInt64(MCAP.magic.count) }
            offset = end
            return nil
        }
        let header = try bytes(at: offset, MCAP.recordHeaderByteCount) {
            (MCAP.Opcode(rawValue: $0[0]), $0.loadUnaligned(fromByteOffset: 1, as: UInt64.self).littleEndian)
        }
        guard let (opcode, length) = header else { return cutOff() }
        let content = offset + UInt64(MCAP.recordHeaderByteCount)
        if opcode == .chunk, chunk == nil { return try enterChunk(content, length) }
        guard length <= limit - content else { return leaveBrokenChunk() }
        defer { offset = content + length }
        return try record(opcode, content, length)
    }

    private mutating func cutOff() -> Record? {
        isCutOff = true
        offset = end
        return nil
    }

    /// Handles a record that extends beyond its chunk, whose rest cannot be read, or beyond the file.
    private mutating func leaveBrokenChunk() -> Record? {
        guard let chunk else { return cutOff() }
        if chunk.end >= end { isCutOff = true }
        damagedChunkCount += 1
        offset = chunk.end
        self.chunk = nil
        return .other
    }

    private mutating func enterChunk(_ content: UInt64, _ length: UInt64) throws(RecordingError) -> Record? {
        // Two times, two lengths, a checksum, and the length of the compression's name.
        guard length >= 40, end - content >= 32 else { return end - content < 32 ? cutOff() : skip(content, length) }
        let fixed = try bytes(at: content, 32) { bytes in
            [24, 28].map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self).littleEndian }
        }
        guard let fixed else { return cutOff() }
        let nameByteCount = Int(fixed[1])
        guard nameByteCount <= 64 else { return skip(content, length) }
        let headerByteCount = UInt64(40 + nameByteCount)
        guard end - content >= headerByteCount else { return cutOff() }
        let rest = try bytes(at: content + 32, nameByteCount + 8) { bytes in
            (
                String(decoding: bytes[..<nameByteCount], as: UTF8.self),
                bytes.loadUnaligned(fromByteOffset: nameByteCount, as: UInt64.self).littleEndian
            )
        }
        guard let (compression, count) = rest else { return cutOff() }
        guard compression.isEmpty else {
            throw RecordingError(
                .compressed,
                "its chunks are compressed with \(compression), which is not supported; make an uncompressed "
                    + "copy with the tool of mcap.dev: mcap compress --compression none IN.mcap -o OUT.mcap")
        }
        guard length >= headerByteCount, count <= length - headerByteCount else { return skip(content, length) }
        offset = content + headerByteCount
        // All whole records of a truncated chunk are read.
        let isWhole = count <= end - offset
        chunk = (isWhole ? offset + count : end, isWhole ? fixed[0] : 0)
        checksum = CRC32()
        return .other
    }

    private mutating func skip(_ content: UInt64, _ length: UInt64) -> Record? {
        guard length <= end - content else { return cutOff() }
        skippedRecordCount += 1
        offset = content + length
        return .other
    }

    private mutating func record(
        _ opcode: MCAP.Opcode?, _ content: UInt64, _ length: UInt64
    ) throws(RecordingError) -> Record? {
        let isWanted =
            switch opcode {
            case .schema, .channel, .chunkIndex, .statistics, .footer, .dataEnd, .message: true
            default: false
            }
        let longest = opcode == .message ? Self.longestMessage : Self.longestRecord
        guard isWanted, length <= UInt64(longest) else {
            if isWanted { skippedRecordCount += 1 }
            // The checksum can no longer be computed.
            chunk?.expected = 0
            return .other
        }
        let headerByteCount = MCAP.recordHeaderByteCount
        let count =
            opcode == .message && skipsMessageData ? min(Int(length), MCAP.messageHeaderByteCount) : Int(length)
        if count < Int(length) { chunk?.expected = 0 }
        let isChecked = chunk.map { $0.expected != 0 } ?? false
        var checksum = checksum
        let parsed = try bytes(at: content - UInt64(headerByteCount), headerByteCount + count) { whole in
            if isChecked { checksum.add(whole) }
            return Self.parse(opcode, UnsafeRawBufferPointer(rebasing: whole[headerByteCount...]))
        }
        self.checksum = checksum
        guard let parsed else { return cutOff() }
        if parsed == nil { skippedRecordCount += 1 }
        return parsed ?? .other
    }

    private static func parse(_ opcode: MCAP.Opcode?, _ content: UnsafeRawBufferPointer) -> Record? {
        var reader = ByteReader(content)
        switch opcode {
        case .channel: return reader.channel().map { .channel($0) }
        case .chunkIndex: return reader.chunkIndex().map { .chunkIndex($0) }
        case .statistics: return reader.statistics().map { .statistics($0) }
        case .footer: return reader.integer(UInt64.self).map { .footer($0) }
        case .dataEnd: return .dataEnd
        case .message:
            // A sequence number follows the channel.
            guard let channel = reader.integer(UInt16.self), reader.bytes(4) != nil,
                let time = reader.integer(UInt64.self), let published = reader.integer(UInt64.self)
            else { return nil }
            let data = Array(content[MCAP.messageHeaderByteCount...])
            return .message(MCAP.Message(channelID: channel, logTime: time, publishTime: published, data: data))
        default: return .other
        }
    }

    /// Calls `body` with bytes of the file; `nil` if the file does not have them.
    private mutating func bytes<Result>(
        at place: UInt64, _ count: Int, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(RecordingError) -> Result? {
        let isThere =
            place >= windowStart && place - windowStart <= UInt64(window.count)
            && window.count - Int(place - windowStart) >= count
        if !isThere {
            guard place <= source.byteCount, UInt64(count) <= source.byteCount - place else { return nil }
            // Frees a window that was enlarged for one record.
            window = []
            window = try source.read(
                at: place, max(count, Int(min(UInt64(Self.windowByteCount), source.byteCount - place))))
            windowStart = place
            guard window.count >= count else { return nil }
        }
        let start = Int(place - windowStart)
        return window.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)])) }
    }
}
