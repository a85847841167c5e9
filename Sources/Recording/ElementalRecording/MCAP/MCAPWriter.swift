internal import Support

/// Writes an MCAP file: chunks with their indexes, and at the end the summary. It blocks, and belongs to one thread.
///
/// Its memory does not grow with the file: the index of the chunks, some ten megabytes a day, waits in a file of its
/// own.
// Unchecked because one thread uses it.
final class MCAPWriter: @unchecked Sendable {
    private let chunkLimit: Int
    private let maximumByteCount: UInt64?
    private let file: RecordingFile

    // The chunk that is being filled.
    private var chunk = [UInt8]()
    /// The times of each channel's messages, and their offsets in the chunk's records.
    private var entries: [UInt16: [(time: UInt64, offset: UInt64)]] = [:]
    private var chunkTimes: (start: UInt64, end: UInt64)?

    // The content of the summary.
    private var schemaIDs: Set<UInt16> = []
    private var schemas = [UInt8]()
    private var channels = [UInt8]()
    private var metadataIndex = [UInt8]()
    private var chunkIndex: ChunkIndexStore
    private var statistics = MCAP.Statistics()
    /// The statistics of what is in the file.
    private(set) var written = MCAP.Statistics()

    /// The bytes below the file's limit that are reserved for the last records.
    var reservedByteCount: UInt64 = 1024

    /// The offset of the last chunk, which is dropped if the disk has no room for the file's end.
    private var lastChunk: UInt64
    /// The offset after the last complete record.
    private var end: UInt64

    init(_ file: RecordingFile, library: String, maximumByteCount: UInt64? = nil) throws(RecordingError) {
        self.file = file
        self.maximumByteCount = maximumByteCount
        chunkLimit = maximumByteCount.map { Int(min(max($0 / 16, 4 << 10), 1 << 20)) } ?? 1 << 20
        chunkIndex = ChunkIndexStore(besides: file.path)
        let header = [UInt8](.header) { bytes in for text in ["", library] { bytes.add(text) } }
        try file.append(MCAP.magic + header)
        end = file.byteCount
        lastChunk = end
    }

    var byteCount: UInt64 { file.byteCount }
    var isChunkFull: Bool { chunk.count >= chunkLimit }

    func add(_ schema: MCAP.Schema) {
        guard schemaIDs.insert(schema.id).inserted else { return }
        let record = [UInt8](.schema) { bytes in
            bytes.add(schema.id)
            for text in [schema.name, "jsonschema", schema.text] { bytes.add(text) }
        }
        chunk += record
        schemas += record
        statistics.schemaCount += 1
    }

    func add(_ channel: MCAP.Channel) {
        let record = [UInt8](.channel) { bytes in
            bytes.addAll(channel.id, channel.schemaID)
            bytes.add(channel.topic)
            bytes.add(channel.messageEncoding)
            bytes.add(channel.metadata)
        }
        chunk += record
        channels += record
        statistics.channelCount += 1
        statistics.messageCounts[channel.id] = 0
    }

    /// - Parameters:
    ///   - published: when the value was measured, if known.
    ///   - content: appends the message's data.
    func addMessage(
        _ channel: UInt16, at time: UInt64, published: UInt64? = nil, _ content: (inout [UInt8]) -> Void
    ) {
        entries[channel, default: []].append((time, UInt64(chunk.count)))
        let sequence = UInt32(truncatingIfNeeded: statistics.messageCounts[channel] ?? 0)
        chunk.add(.message) { bytes in
            bytes.addAll(channel, sequence, time, published ?? time)
            content(&bytes)
        }
        chunkTimes = (min(chunkTimes?.start ?? time, time), max(chunkTimes?.end ?? time, time))
        statistics.startTime = statistics.messageCount == 0 ? time : min(statistics.startTime, time)
        statistics.endTime = max(statistics.endTime, time)
        statistics.messageCounts[channel, default: 0] += 1
        statistics.messageCount += 1
    }

    /// Writes a separate record, not in a chunk.
    func addMetadata(_ name: String, _ metadata: MCAP.Metadata) throws(RecordingError) {
        try flush()
        let bytes = [UInt8](.metadata) { bytes in
            bytes.add(name)
            bytes.add(metadata)
        }
        let index = [UInt8](.metadataIndex) { index in
            index.addAll(file.byteCount, UInt64(bytes.count))
            index.add(name)
        }
        try checkRoom(for: bytes.count, index: index.count)
        try write(bytes)
        metadataIndex += index
        statistics.metadataCount += 1
        noteWritten()
    }

    /// Completes the chunk and writes it.
    ///
    /// - Throws: ``RecordingError`` if it cannot be written, with the code ``RecordingError/Code/limitReached`` if the
    ///   file would exceed its limit. Everything written before is complete, and only ``finish()`` may follow.
    func flush() throws(RecordingError) {
        guard !chunk.isEmpty else { return }
        statistics.chunkCount += 1
        let (times, size) = (chunkTimes ?? (0, 0), UInt64(chunk.count))
        // Two times, two lengths, a checksum, and an empty compression name.
        var head = [UInt8]()
        head.addAll(MCAP.Opcode.chunk.rawValue, 40 + size, times.start, times.end, size)
        head.addAll(CRC32(chunk).value, UInt32(0), size)
        let start = file.byteCount
        let chunkByteCount = UInt64(head.count + chunk.count)
        let (index, offsets) = messageIndex(after: start + chunkByteCount)
        let entry = [UInt8](.chunkIndex) { entry in
            entry.addAll(times.start, times.end, start, chunkByteCount)
            entry.addCounted { entry in for (channel, offset) in offsets { entry.addAll(channel, offset) } }
            entry.addAll(UInt64(index.count), UInt32(0), size, size)
        }
        try checkRoom(for: Int(chunkByteCount) + index.count, index: entry.count)
        try write(head)
        try write(chunk)
        try write(index)
        try chunkIndex.add(entry)
        lastChunk = start
        noteWritten()
        removeChunk()
    }

    /// Drops the content of the chunk, which could not be written.
    func dropChunk() {
        (written.schemaCount, written.channelCount) = (statistics.schemaCount, statistics.channelCount)
        statistics = written
        removeChunk()
    }

    /// Waits until everything written is on the disk.
    func synchronise() throws(RecordingError) { try file.synchronise() }

    private func removeChunk() {
        chunk.removeAll(keepingCapacity: chunk.capacity <= 2 * chunkLimit)
        entries.removeAll(keepingCapacity: true)
        chunkTimes = nil
    }

    private func noteWritten() {
        end = file.byteCount
        written = statistics
    }

    /// Returns the chunk's index, a record for each channel, and the offsets of these records in the file.
    private func messageIndex(after start: UInt64) -> ([UInt8], [(channel: UInt16, offset: UInt64)]) {
        var index = [UInt8]()
        var offsets: [(channel: UInt16, offset: UInt64)] = []
        for (channel, entries) in entries.sorted(by: { $0.key < $1.key }) {
            offsets.append((channel, start + UInt64(index.count)))
            index.add(.messageIndex) { index in
                index.add(channel)
                index.addCounted { index in
                    for entry in entries { index.addAll(entry.time, entry.offset) }
                }
            }
        }
        return (index, offsets)
    }

    private func write(_ bytes: [UInt8]) throws(RecordingError) {
        if file.isRemoved {
            throw RecordingError(.removed, "\(file.path) was removed during the recording: its content is lost")
        }
        try file.append(bytes)
    }

    /// Checks that the file with its end stays within its limit.
    private func checkRoom(for byteCount: Int, index: Int) throws(RecordingError) {
        guard let maximumByteCount else { return }
        let size = file.byteCount + UInt64(byteCount) + endByteCount + UInt64(index) + reservedByteCount
        guard size > maximumByteCount else { return }
        throw RecordingError(.limitReached, "\(file.path) has reached its maximum size of \(maximumByteCount) bytes")
    }

    /// An upper bound of the bytes of the file's end.
    private var endByteCount: UInt64 {
        let statistics = 128 + 10 * self.statistics.messageCounts.count
        let offsets = 5 * (MCAP.recordHeaderByteCount + 17)
        let fixed = MCAP.dataEndByteCount + statistics + offsets + MCAP.footerByteCount + MCAP.magic.count
        return UInt64(fixed + schemas.count + channels.count + metadataIndex.count) + chunkIndex.byteCount
    }

    // MARK: - The end

    /// Ends the file with its summary. If there is no room for it, the file ends without one, and every reader can
    /// still read it from its beginning.
    ///
    /// - Throws: ``RecordingError`` if even that cannot be written; ``Recording`` can read what is in the file.
    func finish() throws(RecordingError) {
        do throws(RecordingError) {
            if file.byteCount != end { try file.truncate(to: end) }
            try writeSummary()
        } catch {
            // A shorter end does not help if the file was removed or the disk has failed.
            guard error.code == .diskFull else { throw error }
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
        try write(Self.dataEnd)
        try writeFooter(summary: 0, offsets: 0, nil)
    }

    /// Has no checksum.
    private static let dataEnd = [UInt8](.dataEnd) { $0.add(UInt32(0)) }

    /// - Parameter checksum: the summary's checksum; `nil` if there is no summary.
    private func writeFooter(summary: UInt64, offsets: UInt64, _ checksum: CRC32?) throws(RecordingError) {
        var bytes = [UInt8]()
        let size = UInt64(MCAP.footerByteCount - MCAP.recordHeaderByteCount)
        bytes.addAll(MCAP.Opcode.footer.rawValue, size, summary, offsets)
        var checksum = checksum
        checksum?.add(bytes)
        bytes.add(checksum?.value ?? 0)
        bytes += MCAP.magic
        try write(bytes)
    }

    private func writeSummary() throws(RecordingError) {
        try write(Self.dataEnd)
        let summaryStart = file.byteCount
        var checksum = CRC32()
        func put(_ bytes: [UInt8]) throws(RecordingError) {
            checksum.add(bytes)
            try write(bytes)
        }
        var offsets = [UInt8]()
        func add(_ opcode: MCAP.Opcode, _ pieces: () throws(RecordingError) -> Void) throws(RecordingError) {
            let start = file.byteCount
            try pieces()
            guard file.byteCount > start else { return }
            offsets.add(.summaryOffset) { $0.addAll(opcode.rawValue, start, file.byteCount - start) }
        }
        for (opcode, records) in [
            (MCAP.Opcode.schema, schemas), (.channel, channels), (.statistics, statisticsRecord),
            (.metadataIndex, metadataIndex),
        ] {
            try add(opcode) { () throws(RecordingError) in try put(records) }
        }
        try add(.chunkIndex) { () throws(RecordingError) in try chunkIndex.forEachPiece(put) }
        let offsetsStart = file.byteCount
        try put(offsets)
        try writeFooter(summary: summaryStart, offsets: offsetsStart, checksum)
    }

    /// The statistics of the messages in the file, and of the schemas and channels in its summary.
    private var statisticsRecord: [UInt8] {
        [UInt8](.statistics) { bytes in
            // No attachments.
            bytes.addAll(written.messageCount, statistics.schemaCount, statistics.channelCount, UInt32(0))
            bytes.addAll(written.metadataCount, written.chunkCount, written.startTime, written.endTime)
            bytes.addCounted { bytes in
                for (channel, count) in written.messageCounts.sorted(by: { $0.key < $1.key }) where count > 0 {
                    bytes.addAll(channel, count)
                }
            }
        }
    }
}

/// The index records of a file's chunks, until the file's end. More than a megabyte waits in a separate file.
struct ChunkIndexStore {
    private static let limit = 1 << 20

    private let path: String
    private var recent: [UInt8] = []
    private var file: RecordingFile?

    init(besides path: String) { self.path = path }

    var byteCount: UInt64 { (file?.byteCount ?? 0) + UInt64(recent.count) }

    mutating func add(_ record: [UInt8]) throws(RecordingError) {
        if recent.count + record.count > Self.limit, !recent.isEmpty {
            if file == nil { file = try RecordingFile(besides: path) }
            try file?.append(recent)
            recent.removeAll(keepingCapacity: true)
        }
        recent.append(contentsOf: record)
    }

    func forEachPiece(_ body: ([UInt8]) throws(RecordingError) -> Void) throws(RecordingError) {
        var offset: UInt64 = 0
        while let file, offset < file.byteCount {
            let piece = try file.read(at: offset, 256 << 10)
            guard !piece.isEmpty else { throw RecordingError(path, cannot: "read the index of", EIO) }
            try body(piece)
            offset += UInt64(piece.count)
        }
        if !recent.isEmpty { try body(recent) }
    }
}
