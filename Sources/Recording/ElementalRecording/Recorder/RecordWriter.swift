internal import Elemental
internal import ElementalWire

/// Writes what waits into the file. It blocks.
// Unchecked because it is used on the recorder's own thread alone, after it was made.
final class RecordWriter: @unchecked Sendable {
    private let writer: MCAPWriter
    private let clock: RecordingClock
    /// The schemas that are in the file.
    private var schemas: Set<UInt16> = []
    /// Values in the file, and in the chunk that is not in it yet.
    private(set) var valueCount = 0
    private var pendingValueCount = 0

    init(_ path: String, _ options: RecorderOptions) throws(RecordingError) {
        clock = options.clock
        writer = try MCAPWriter(
            try RecordingFile(creating: path), library: "elemental", maximumByteCount: options.maximumByteCount)
        try writer.addMetadata(
            "elemental.recording",
            [
                ("version", "1"), ("clock", clock.name), ("start", String(clock.start)),
                ("note", "log_time is start, the wall clock then, and the time since by a clock that nobody sets"),
            ])
        add(RecordedEvent.schema)
        writer.add(RecordedEvent.channel(RecordQueue.eventChannel))
    }

    var byteCount: UInt64 { writer.byteCount }

    private func add(_ schema: MCAP.Schema) {
        if schemas.insert(schema.id).inserted { writer.add(schema) }
    }

    /// Writes entries.
    ///
    /// - Parameter flushes: whether everything is to be in the file then.
    /// - Throws: ``RecordingError``, after which nothing but ``finish(_:lostCount:)`` may follow.
    func write(_ entries: [RecordQueue.Entry], flushes: Bool) throws(RecordingError) {
        for entry in entries {
            switch entry {
            case .channel(let id, let channel):
                add(channel.element.type.messageSchema)
                writer.add(channel.channel(id))
            case .value(let channel, let time, let value):
                writer.addMessage(channel, at: time) { value.appendMessage(to: &$0) }
                pendingValueCount += 1
            case .event(let event, let time):
                writer.addMessage(RecordQueue.eventChannel, at: time) { $0.add(event.message.utf8) }
            }
            if writer.isChunkFull { try flush() }
        }
        if flushes { try flush() }
    }

    private func flush() throws(RecordingError) {
        try writer.flush()
        valueCount += pendingValueCount
        pendingValueCount = 0
    }

    /// Ends the file.
    ///
    /// - Parameters:
    ///   - failure: why writing ended; `nil` if it did not.
    ///   - lostCount: how many values came and are not in the file.
    /// - Throws: ``RecordingError`` if the file has not even got an end.
    func finish(_ failure: RecordingError?, lostCount: Int) throws(RecordingError) {
        if failure == nil || failure?.code == .limitReached {
            writer.reservedByteCount = 0
            // A file without this is complete as well.
            writer.dropChunk()
            try? writer.addMetadata(
                "elemental.end",
                [
                    ("end", String(clock.now)), ("lost", String(lostCount)),
                    // How far the wall clock was set meanwhile.
                    ("wallClockStep", String(clock.wallClockStep)),
                ])
        }
        try writer.finish()
    }
}
