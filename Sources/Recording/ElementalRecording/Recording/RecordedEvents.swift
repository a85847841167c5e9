internal import Support

extension Recording {
    /// The events of the recording, the first ones of many, without reading the values between them where the file has an
    /// index.
    ///
    /// - Parameter limit: the most events that are read.
    /// - Throws: ``RecordingError``.
    public func events(atMost limit: Int = 1000) async throws(RecordingError) -> [RecordedItem] {
        guard eventCount > 0 else { return [] }
        return try await Self.reading(path) { file throws(RecordingError) in try readEvents(file, limit) }
    }

    /// It blocks.
    func readEvents(_ source: any ByteSource, _ limit: Int) throws(RecordingError) -> [RecordedItem] {
        var items: [RecordedItem] = []
        let reader = ItemReader(self, source, RecordingLosses())
        for range in try chunks(source) ?? [nil] {
            var cursor = range.map { MCAPCursor(source, at: $0.lowerBound, end: $0.upperBound) } ?? MCAPCursor(source)
            while items.count < limit, let record = try cursor.next() {
                guard case .message(let message) = record, case .events? = channels[message.channelID],
                    let item = reader.item(of: message)
                else { continue }
                items.append(item)
            }
        }
        return items
    }

    /// The chunks that may have events; `nil` if the file has no index that tells.
    private func chunks(_ source: any ByteSource) throws(RecordingError) -> [Range<UInt64>?]? {
        let footer = UInt64(MCAP.footerByteCount + MCAP.magic.count)
        guard isComplete, source.byteCount >= footer else { return nil }
        var end = MCAPCursor(source, at: source.byteCount - footer)
        guard case .footer(let found) = try end.next(), found.summaryStart != 0 else { return nil }
        var chunks: [Range<UInt64>?] = []
        var cursor = MCAPCursor(source, at: found.summaryStart)
        while let record = try cursor.next() {
            guard case .chunkIndex(let index) = record else { continue }
            let mayHaveEvents = index.channels.contains { if case .events? = channels[$0] { true } else { false } }
            guard mayHaveEvents || index.channels.isEmpty else { continue }
            let (end, isBeyond) = index.offset.addingReportingOverflow(index.byteCount)
            guard !isBeyond, end <= source.byteCount else { return nil }
            chunks.append(index.offset..<end)
        }
        return chunks.isEmpty ? nil : chunks
    }
}
