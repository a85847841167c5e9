/// Reads the records of an MCAP file one after the other, those in chunks too. It blocks.
///
/// A file that is cut off, because it is being written or its recorder was killed, is read to its last whole record.
/// Memory is bounded whatever the file says: a window of 256 KiB, or one record up to ``longestMessage``.
struct MCAPCursor {
    enum Record {
        case header(profile: String, library: String)
        case schema(MCAP.Schema)
        case channel(MCAP.Channel)
        case message(MCAP.Message)
        /// Its records follow.
        case chunk(MCAP.ChunkHeader)
        case chunkIndex(MCAP.ChunkIndex)
        case statistics(MCAP.Statistics)
        case metadata(name: String, MCAP.Metadata)
        case dataEnd
        case footer(MCAP.Footer)
        /// One that is not read: of no use here, or unknown.
        case other
    }

    /// The longest message that is read, in bytes: the longest value of a connection's default limits, in base64.
    static let longestMessage = 180 << 20
    /// The longest record of another kind.
    private static let longestRecord = 4 << 20
    private static let windowByteCount = 256 << 10

    private let source: any ByteSource
    private var window: [UInt8] = []
    /// Where the window begins.
    private var windowStart: UInt64 = 0
    /// Where the next record begins.
    private(set) var offset: UInt64
    private let end: UInt64
    /// The chunk that is being read: its end, and the checksum that its records should have.
    private var chunk: (end: UInt64, expected: UInt32)?
    private var checksum = CRC32()

    /// Whether the file ends in the middle of a record.
    private(set) var isCutOff = false
    /// The chunks whose checksum is wrong.
    private(set) var damagedChunkCount = 0
    /// The records that were left out: too long, or not as the format says.
    private(set) var skippedRecordCount = 0
    /// Whether messages come without their data, which is faster.
    var skipsMessageData = false

    /// - Parameter offset: where a record begins.
    init(_ source: any ByteSource, at offset: UInt64 = UInt64(MCAP.magic.count), end: UInt64? = nil) {
        self.source = source
        self.offset = offset
        self.end = min(end ?? source.byteCount, source.byteCount)
    }

    /// Throws unless the file begins as MCAP files do.
    static func checkMagic(of source: any ByteSource, _ path: String) throws(RecordingError) {
        var start = [UInt8](repeating: 0, count: MCAP.magic.count)
        let count = try read(source, at: 0, into: &start)
        guard count == start.count, start == MCAP.magic else {
            throw RecordingError(.notMCAP, "\(path) is not an MCAP file: it does not begin as one")
        }
    }

    private static func read(
        _ source: any ByteSource, at offset: UInt64, into bytes: inout [UInt8]
    ) throws(RecordingError) -> Int {
        var count = 0
        while count < bytes.count {
            var failure: RecordingError?
            let more = bytes.withUnsafeMutableBytes { buffer -> Int in
                do throws(RecordingError) {
                    return try source.read(
                        at: offset + UInt64(count), into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            if more == 0 { break }
            count += more
        }
        return count
    }

    /// The next record; `nil` at the end, and where the file is cut off.
    ///
    /// - Throws: ``RecordingError`` with the code ``RecordingError/Code/compressed`` for a chunk that is, and if the file
    ///   cannot be read.
    mutating func next() throws(RecordingError) -> Record? {
        leaveChunk()
        let limit = chunk?.end ?? end
        guard limit > offset else { return nil }
        guard limit - offset >= UInt64(MCAP.recordHeaderByteCount) else {
            // The magic at the end is shorter than a record.
            if chunk == nil { isCutOff = limit - offset != UInt64(MCAP.magic.count) }
            return stop()
        }
        let header = try bytes(at: offset, MCAP.recordHeaderByteCount)
        guard let header else { return cutOff() }
        var length: UInt64 = 0
        for place in 0..<8 { length |= UInt64(window[header + 1 + place]) << (8 * UInt64(place)) }
        let opcode = MCAP.Opcode(rawValue: window[header])
        let content = offset + UInt64(MCAP.recordHeaderByteCount)
        if opcode == .chunk, chunk == nil { return try enterChunk(content, length) }
        guard length <= limit - content else { return chunk == nil ? cutOff() : leaveBrokenChunk() }
        defer { offset = content + length }
        return try record(opcode, content, length)
    }

    /// Goes on behind the chunk that is being read.
    mutating func skipChunk() {
        guard let chunk else { return }
        offset = chunk.end
        self.chunk = nil
    }

    private mutating func stop() -> Record? {
        offset = end
        return nil
    }

    private mutating func cutOff() -> Record? {
        isCutOff = true
        return stop()
    }

    /// A record in a chunk that goes beyond the chunk: the rest of it cannot be read.
    private mutating func leaveBrokenChunk() -> Record? {
        guard let chunk else { return cutOff() }
        if chunk.end >= end { isCutOff = true }
        damagedChunkCount += 1
        offset = chunk.end
        self.chunk = nil
        return .other
    }

    private mutating func leaveChunk() {
        guard let chunk, offset >= chunk.end else { return }
        if chunk.expected != 0, checksum.value != chunk.expected { damagedChunkCount += 1 }
        self.chunk = nil
    }

    private mutating func enterChunk(_ content: UInt64, _ length: UInt64) throws(RecordingError) -> Record? {
        // Two times, a length, a checksum, and the length of the compression's name.
        guard length >= 40, end - content >= 32 else { return end - content < 32 ? cutOff() : skip(content, length) }
        guard let fixed = try bytes(at: content, 32) else { return cutOff() }
        var header = MCAP.ChunkHeader(startTime: 0, endTime: 0, byteCount: 0, checksum: 0, compression: "")
        var nameByteCount = 0
        window.withUnsafeBytes { window in
            var reader = ContentReader(UnsafeRawBufferPointer(rebasing: window[fixed..<(fixed + 32)]))
            header.startTime = reader.integer() ?? 0
            header.endTime = reader.integer() ?? 0
            header.byteCount = reader.integer() ?? 0
            header.checksum = reader.integer() ?? 0
            nameByteCount = Int(reader.integer(UInt32.self) ?? 0)
        }
        guard nameByteCount <= 64 else { return skip(content, length) }
        let size = content + 32 + UInt64(nameByteCount)
        guard end >= size, end - size >= 8, let name = try bytes(at: content + 32, nameByteCount + 8) else {
            return cutOff()
        }
        header.compression = String(decoding: window[name..<(name + nameByteCount)], as: UTF8.self)
        var count: UInt64 = 0
        for place in 0..<8 { count |= UInt64(window[name + nameByteCount + place]) << (8 * UInt64(place)) }
        guard header.compression.isEmpty else {
            throw RecordingError(
                .compressed,
                "its chunks are compressed with \(header.compression), which cannot be read here; make an uncompressed "
                    + "copy with the tool of mcap.dev: mcap compress --compression none IN.mcap -o OUT.mcap")
        }
        guard length >= UInt64(40 + nameByteCount), count <= length - UInt64(40 + nameByteCount) else {
            return skip(content, length)
        }
        offset = size + 8
        // Of a chunk that is cut off all whole records are read.
        let rest = end - offset
        chunk = (offset + min(count, rest), count <= rest ? header.checksum : 0)
        checksum = CRC32()
        return .chunk(header)
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
        let isWanted: Bool
        switch opcode {
        case .header, .schema, .channel, .chunkIndex, .statistics, .metadata, .footer, .dataEnd, .message:
            isWanted = true
        default: isWanted = false
        }
        let longest = opcode == .message ? Self.longestMessage : Self.longestRecord
        guard isWanted, length <= UInt64(longest) else {
            if isWanted { skippedRecordCount += 1 }
            // Its checksum is not known any more.
            chunk?.expected = 0
            return .other
        }
        let headerByteCount = MCAP.recordHeaderByteCount
        let count =
            opcode == .message && skipsMessageData ? min(Int(length), MCAP.messageHeaderByteCount) : Int(length)
        guard let start = try bytes(at: content - UInt64(headerByteCount), headerByteCount + count) else {
            return cutOff()
        }
        if count < Int(length) { chunk?.expected = 0 }
        let parsed: Record? = window.withUnsafeBytes { window in
            let whole = UnsafeRawBufferPointer(rebasing: window[start..<(start + headerByteCount + count)])
            if let expected = chunk?.expected, expected != 0 { checksum.add(whole) }
            return Self.parse(opcode, UnsafeRawBufferPointer(rebasing: whole[headerByteCount...]))
        }
        if parsed == nil { skippedRecordCount += 1 }
        return parsed ?? .other
    }

    private static func parse(_ opcode: MCAP.Opcode?, _ content: UnsafeRawBufferPointer) -> Record? {
        var reader = ContentReader(content)
        switch opcode {
        case .header:
            guard let profile = reader.string(), let library = reader.string() else { return nil }
            return .header(profile: profile, library: library)
        case .schema: return MCAP.Schema(content).map { .schema($0) }
        case .channel: return MCAP.Channel(content).map { .channel($0) }
        case .chunkIndex: return MCAP.ChunkIndex(content).map { .chunkIndex($0) }
        case .statistics: return MCAP.Statistics(content).map { .statistics($0) }
        case .metadata:
            guard let name = reader.string(), let metadata = reader.metadata() else { return nil }
            return .metadata(name: name, metadata)
        case .footer: return reader.integer(UInt64.self).map { .footer(MCAP.Footer(summaryStart: $0)) }
        case .dataEnd: return .dataEnd
        case .message:
            guard let channel = reader.integer(UInt16.self), let sequence = reader.integer(UInt32.self),
                let logTime = reader.integer(UInt64.self), let publishTime = reader.integer(UInt64.self)
            else { return nil }
            return .message(
                MCAP.Message(
                    channelID: channel, sequence: sequence, logTime: logTime, publishTime: publishTime,
                    data: Array(content[MCAP.messageHeaderByteCount...])))
        default: return nil
        }
    }

    /// Brings bytes of the file into the window.
    ///
    /// - Returns: where in the window they are; `nil` if the file does not have them.
    private mutating func bytes(at place: UInt64, _ count: Int) throws(RecordingError) -> Int? {
        if place >= windowStart, place - windowStart <= UInt64(window.count),
            window.count - Int(place - windowStart) >= count
        {
            return Int(place - windowStart)
        }
        guard place <= source.byteCount, UInt64(count) <= source.byteCount - place else { return nil }
        let size = max(count, Int(min(UInt64(Self.windowByteCount), source.byteCount - place)))
        // A window that was widened for one record is given back.
        if window.count != size { window = [UInt8](repeating: 0, count: size) }
        windowStart = place
        let read = try Self.read(source, at: place, into: &window)
        guard read >= count else {
            window = []
            return nil
        }
        if read < size { window.removeLast(size - read) }
        return 0
    }
}
