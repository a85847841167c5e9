/// Writes an MCAP file: chunks with their indexes, and at the end the summary. It blocks, and belongs to one thread.
///
/// Its memory does not grow with the file: the index of the chunks, of which a day has some ten megabytes, waits in a file
/// of its own.
final class MCAPWriter {
    /// Where and when a chunk's messages are.
    private struct IndexEntry {
        var channel: UInt16
        var time: UInt64
        /// In the chunk's records.
        var offset: UInt64
    }

    /// The bytes of records after which a chunk ends.
    private let chunkLimit: Int
    /// The most bytes of the file; `nil` for no limit.
    private let maximumByteCount: UInt64?
    private let file: RecordingFile

    // The chunk that is being filled.
    private var chunk = RecordBytes()
    private var entries: [IndexEntry] = []
    private var chunkTimes: (start: UInt64, end: UInt64)?

    // What the summary has.
    private var schemas = RecordBytes()
    private var channels = RecordBytes()
    private var metadataIndex = RecordBytes()
    private var chunkIndex: ChunkIndexStore
    private(set) var statistics = MCAP.Statistics()
    private var written = MCAP.Statistics()

    /// The bytes that are kept free for the last records, below the file's limit.
    var reservedByteCount: UInt64 = 1024

    /// Where the last chunk begins, which is given up if the disk has no room for the file's end.
    private var lastChunk: UInt64
    /// The end of all that is complete.
    private var end: UInt64

    /// Begins a file.
    ///
    /// - Throws: ``RecordingError`` if it cannot be written.
    init(_ file: RecordingFile, library: String, maximumByteCount: UInt64? = nil) throws(RecordingError) {
        self.file = file
        self.maximumByteCount = maximumByteCount
        chunkLimit = maximumByteCount.map { Int(min(max($0 / 16, 4 << 10), 1 << 20)) } ?? 1 << 20
        chunkIndex = ChunkIndexStore(besides: file.path)
        var bytes = RecordBytes()
        bytes.add(MCAP.magic)
        bytes.record(.header) { bytes in
            bytes.add(string: "")
            bytes.add(string: library)
        }
        try file.write(bytes.bytes)
        end = file.position
        lastChunk = end
    }

    /// The bytes of the file so far.
    var byteCount: UInt64 { file.position }
    /// Whether the chunk has grown so long that it should end.
    var isChunkFull: Bool { chunk.count >= chunkLimit }
    var isChunkEmpty: Bool { chunk.isEmpty }

    func add(_ schema: MCAP.Schema) {
        chunk.add(schema)
        schemas.add(schema)
        statistics.schemaCount += 1
    }

    func add(_ channel: MCAP.Channel) {
        chunk.add(channel)
        channels.add(channel)
        statistics.channelCount += 1
        statistics.messageCounts[channel.id] = 0
    }

    /// Adds a message to the chunk.
    ///
    /// - Parameter content: appends the message's data.
    func addMessage(_ channel: UInt16, at time: UInt64, _ content: (inout RecordBytes) -> Void) {
        entries.append(IndexEntry(channel: channel, time: time, offset: UInt64(chunk.count)))
        let sequence = UInt32(truncatingIfNeeded: statistics.messageCounts[channel] ?? 0)
        chunk.record(.message) { bytes in
            bytes.add(channel)
            bytes.add(sequence)
            bytes.add(time)
            bytes.add(time)
            content(&bytes)
        }
        chunkTimes = (min(chunkTimes?.start ?? time, time), max(chunkTimes?.end ?? time, time))
        statistics.messageCounts[channel, default: 0] += 1
        if statistics.messageCount == 0 { statistics.startTime = time }
        statistics.messageCount += 1
        statistics.startTime = min(statistics.startTime, time)
        statistics.endTime = max(statistics.endTime, time)
    }

    /// Writes a record of its own, not in a chunk.
    func addMetadata(_ name: String, _ metadata: MCAP.Metadata) throws(RecordingError) {
        try flush()
        var bytes = RecordBytes()
        bytes.record(.metadata) { bytes in
            bytes.add(string: name)
            bytes.add(metadata)
        }
        var index = RecordBytes()
        index.record(.metadataIndex) { index in
            index.add(file.position)
            index.add(UInt64(bytes.count))
            index.add(string: name)
        }
        try checkRoom(for: bytes.count, index: index.count)
        try write(bytes.bytes)
        metadataIndex.add(index.bytes)
        statistics.metadataCount += 1
        end = file.position
        written = statistics
    }

    /// Ends the chunk and writes it.
    ///
    /// - Throws: ``RecordingError`` if it cannot be written, with the code ``RecordingError/Code/limitReached`` where the
    ///   file would grow beyond its limit. What was written before is complete, and only ``finish()`` may follow.
    func flush() throws(RecordingError) {
        guard !chunk.isEmpty else { return }
        statistics.chunkCount += 1
        var head = RecordBytes()
        let times = chunkTimes ?? (0, 0)
        var checksum = CRC32()
        checksum.add(chunk.bytes)
        head.add(MCAP.Opcode.chunk.rawValue)
        // Two times, two lengths, a checksum, and the empty name of a compression.
        head.add(UInt64(40 + chunk.count))
        head.add(times.start)
        head.add(times.end)
        head.add(UInt64(chunk.count))
        head.add(checksum.value)
        head.add(string: "")
        head.add(UInt64(chunk.count))
        let start = file.position
        let chunkByteCount = UInt64(head.count + chunk.count)
        let (index, offsets) = messageIndex(after: start + chunkByteCount)
        var entry = RecordBytes()
        entry.record(.chunkIndex) { entry in
            entry.add(times.start)
            entry.add(times.end)
            entry.add(start)
            entry.add(chunkByteCount)
            entry.counted { entry in
                for (channel, offset) in offsets {
                    entry.add(channel)
                    entry.add(offset)
                }
            }
            entry.add(UInt64(index.count))
            entry.add(string: "")
            entry.add(UInt64(chunk.count))
            entry.add(UInt64(chunk.count))
        }
        try checkRoom(for: Int(chunkByteCount) + index.count, index: entry.count)
        try write(head.bytes)
        try write(chunk.bytes)
        try write(index.bytes)
        try chunkIndex.add(entry.bytes)
        lastChunk = start
        end = file.position
        written = statistics
        chunk.removeAll(keeping: 2 * chunkLimit)
        entries.removeAll(keepingCapacity: true)
        chunkTimes = nil
    }

    /// Gives up what is in the chunk, which could not be written.
    func dropChunk() {
        let (schemaCount, channelCount) = (statistics.schemaCount, statistics.channelCount)
        statistics = written
        statistics.schemaCount = schemaCount
        statistics.channelCount = channelCount
        chunk.removeAll(keeping: 2 * chunkLimit)
        entries.removeAll()
        chunkTimes = nil
    }

    /// The chunk's index, a record for each channel, and where in the file these are.
    private func messageIndex(after start: UInt64) -> (RecordBytes, [(channel: UInt16, offset: UInt64)]) {
        var index = RecordBytes()
        var offsets: [(channel: UInt16, offset: UInt64)] = []
        entries.sort { ($0.channel, $0.offset) < ($1.channel, $1.offset) }
        var first = 0
        while first < entries.count {
            let channel = entries[first].channel
            var next = first
            while next < entries.count, entries[next].channel == channel { next += 1 }
            offsets.append((channel, start + UInt64(index.count)))
            index.record(.messageIndex) { index in
                index.add(channel)
                index.counted { index in
                    for entry in entries[first..<next] {
                        index.add(entry.time)
                        index.add(entry.offset)
                    }
                }
            }
            first = next
        }
        return (index, offsets)
    }

    private func write(_ bytes: [UInt8]) throws(RecordingError) {
        if file.isRemoved {
            throw RecordingError(.removed, "\(file.path) was removed while it was recorded: what it had is lost")
        }
        try file.write(bytes)
    }

    /// Whether the file with its end stays within its limit.
    private func checkRoom(for byteCount: Int, index: Int) throws(RecordingError) {
        guard let maximumByteCount else { return }
        let size = file.position + UInt64(byteCount) + endByteCount + UInt64(index) + reservedByteCount
        guard size > maximumByteCount else { return }
        throw RecordingError(.limitReached, "\(file.path) has reached its size of \(maximumByteCount) bytes")
    }

    /// The bytes of the file's end, or a few more.
    private var endByteCount: UInt64 {
        let statistics = 128 + 10 * self.statistics.messageCounts.count
        let offsets = 5 * (MCAP.recordHeaderByteCount + 17)
        let fixed = MCAP.dataEndByteCount + statistics + offsets + MCAP.footerByteCount + MCAP.magic.count
        return UInt64(fixed + schemas.count + channels.count + metadataIndex.count) + chunkIndex.byteCount
    }

    // MARK: - The end

    /// Ends the file with its summary. If there is no room for that, the file ends without one, and every reader can
    /// still read it from its beginning.
    ///
    /// - Throws: ``RecordingError`` if even that cannot be written; what is in the file can be read with ``Recording``.
    func finish() throws(RecordingError) {
        var failure: RecordingError?
        do throws(RecordingError) {
            if file.position != end { try file.truncate(to: end) }
            try writeSummary()
        } catch {
            failure = error
        }
        if let failure {
            // A file that was removed, or on a disk that failed, has no better end.
            guard failure.code == .diskFull else { throw failure }
            do throws(RecordingError) {
                try endWithoutSummary(at: end)
            } catch {
                try endWithoutSummary(at: lastChunk)
            }
        }
        try file.synchronise()
    }

    private func endWithoutSummary(at end: UInt64) throws(RecordingError) {
        try file.truncate(to: end)
        var bytes = RecordBytes()
        bytes.record(.dataEnd) { $0.add(UInt32(0)) }
        bytes.record(.footer) { bytes in
            bytes.add(UInt64(0))
            bytes.add(UInt64(0))
            bytes.add(UInt32(0))
        }
        bytes.add(MCAP.magic)
        try write(bytes.bytes)
    }

    private func writeSummary() throws(RecordingError) {
        var bytes = RecordBytes()
        bytes.record(.dataEnd) { $0.add(UInt32(0)) }
        try write(bytes.bytes)
        let summaryStart = file.position
        var checksum = CRC32()
        var offsets = RecordBytes()
        var statistics = RecordBytes()
        written.schemaCount = self.statistics.schemaCount
        written.channelCount = self.statistics.channelCount
        statistics.add(written)
        for (opcode, records) in [
            (MCAP.Opcode.schema, schemas), (.channel, channels), (.statistics, statistics),
            (.metadataIndex, metadataIndex),
        ] where !records.isEmpty {
            addOffset(of: opcode, file.position, records.count, to: &offsets)
            checksum.add(records.bytes)
            try write(records.bytes)
        }
        if chunkIndex.byteCount > 0 {
            addOffset(of: .chunkIndex, file.position, Int(chunkIndex.byteCount), to: &offsets)
            try chunkIndex.forEachPiece { piece throws(RecordingError) in
                checksum.add(piece)
                try write(piece)
            }
        }
        let offsetsStart = file.position
        var end = RecordBytes()
        end.add(offsets.bytes)
        end.add(MCAP.Opcode.footer.rawValue)
        end.add(UInt64(MCAP.footerByteCount - MCAP.recordHeaderByteCount))
        end.add(summaryStart)
        end.add(offsetsStart)
        checksum.add(end.bytes)
        end.add(checksum.value)
        end.add(MCAP.magic)
        try write(end.bytes)
    }

    private func addOffset(of opcode: MCAP.Opcode, _ start: UInt64, _ count: Int, to offsets: inout RecordBytes) {
        offsets.record(.summaryOffset) { bytes in
            bytes.add(opcode.rawValue)
            bytes.add(start)
            bytes.add(UInt64(count))
        }
    }
}

/// The index of a file's chunks, as records, until the file's end. What is more than a megabyte waits in a file.
struct ChunkIndexStore {
    private static let limit = 1 << 20

    private let path: String
    private var recent: [UInt8] = []
    private var file: RecordingFile?

    init(besides path: String) { self.path = path }

    var byteCount: UInt64 { (file?.position ?? 0) + UInt64(recent.count) }

    mutating func add(_ record: [UInt8]) throws(RecordingError) {
        if recent.count + record.count > Self.limit, !recent.isEmpty {
            if file == nil { file = try RecordingFile(besides: path) }
            try file?.write(recent)
            recent.removeAll(keepingCapacity: true)
        }
        recent.append(contentsOf: record)
    }

    func forEachPiece(_ body: ([UInt8]) throws(RecordingError) -> Void) throws(RecordingError) {
        if let file { try file.forEachPiece(body) }
        if !recent.isEmpty { try body(recent) }
    }
}
