internal import Support

extension Recording {
    /// Returns the recording's events, up to a limit. If the file has an index, the values between them are not read.
    ///
    /// - Parameter limit: the maximum number of events to read.
    /// - Throws: ``RecordingError``.
    public func events(atMost limit: Int = 1000) async throws(RecordingError) -> [RecordedItem] {
        guard contents.eventCount > 0 else { return [] }
        return try await Self.reading(path) { file throws(RecordingError) in try readEvents(file, limit) }
    }

    /// Reads the events. It blocks.
    func readEvents(_ source: RecordingFile, _ limit: Int) throws(RecordingError) -> [RecordedItem] {
        var items: [RecordedItem] = []
        let reader = ItemReader(self, source)
        let begin = UInt64(MCAP.magic.count)
        for range in try chunks(source) ?? [begin..<max(begin, source.byteCount)] {
            var cursor = MCAPCursor(source, at: range.lowerBound, end: range.upperBound)
            while items.count < limit, let record = try cursor.next() {
                guard case .message(let message) = record, isOfEvents(message.channelID),
                    let item = reader.item(of: message)
                else { continue }
                items.append(item)
            }
        }
        return items
    }

    private func isOfEvents(_ channel: UInt16) -> Bool {
        if case .events? = contents.uses[channel] { true } else { false }
    }

    /// Returns the chunks that may have events; `nil` if the file has no usable index.
    private func chunks(_ source: RecordingFile) throws(RecordingError) -> [Range<UInt64>]? {
        guard isComplete, let start = try MCAPCursor.summaryStart(of: source), start != 0 else { return nil }
        var chunks: [Range<UInt64>] = []
        var cursor = MCAPCursor(source, at: start)
        while let record = try cursor.next() {
            guard case .chunkIndex(let index) = record else { continue }
            guard index.channels.isEmpty || index.channels.contains(where: isOfEvents) else { continue }
            let (end, isBeyond) = index.offset.addingReportingOverflow(index.byteCount)
            guard !isBeyond, end <= source.byteCount else { return nil }
            chunks.append(index.offset..<end)
        }
        return chunks.isEmpty ? nil : chunks
    }
}
