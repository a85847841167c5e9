internal import Elemental
internal import ElementalWire
internal import Support

// The entries of a recorder.
extension MCAPWriter {
    convenience init(_ path: String, _ options: RecorderOptions) throws(RecordingError) {
        try self.init(
            try RecordingFile(creating: path), library: "elemental", maximumByteCount: options.maximumByteCount)
        try addMetadata(
            "elemental.recording",
            [
                ("version", "1"), ("clock", options.clock.name), ("start", String(options.clock.start)),
                ("note", "log_time is start (wall clock) plus the time since then by a monotonic clock"),
            ])
        add(RecordedEvent.schema)
        add(RecordedEvent.channel(RecordQueue.eventChannel))
    }

    var valueCount: Int {
        Int(written.messageCount - (written.messageCounts[RecordQueue.eventChannel] ?? 0))
    }

    /// - Parameter flushes: whether to write everything to the file.
    /// - Throws: ``RecordingError``, after which only ``finish(_:lostCount:_:)`` may follow.
    func write(_ entries: [RecordQueue.Entry], flushes: Bool) throws(RecordingError) {
        for entry in entries {
            switch entry {
            case .channel(let id, let channel):
                add(channel.element.type.messageSchema)
                add(channel.channel(id))
            case .value(let channel, let time, let measured, let value, _):
                addMessage(channel, at: time, published: measured) { value.appendMessage(to: &$0) }
            case .event(let event, let time):
                addMessage(RecordQueue.eventChannel, at: time) { $0 += event.message.utf8 }
            }
            if isChunkFull { try flush() }
        }
        if flushes { try flush() }
    }

    /// - Parameter failure: why writing has failed; `nil` if it has not.
    func finish(_ failure: RecordingError?, lostCount: Int, _ clock: RecordingClock) throws(RecordingError) {
        if failure == nil || failure?.code == .limitReached {
            reservedByteCount = 0
            // The metadata below are optional: a file without them is complete.
            dropChunk()
            try? addMetadata(
                "elemental.end",
                [
                    ("end", String(clock.now)), ("lost", String(lostCount)),
                    // By how many nanoseconds the wall clock was set during the recording.
                    ("wallClockStep", String(Int64(bitPattern: WallClock.nanoseconds &- clock.now))),
                ])
        }
        try finish()
    }
}
