internal import Elemental
internal import ElementalWire
internal import Support

// What a recorder writes.
extension MCAPWriter {
    convenience init(_ path: String, _ options: RecorderOptions) throws(RecordingError) {
        try self.init(
            try RecordingFile(creating: path), library: "elemental", maximumByteCount: options.maximumByteCount)
        try addMetadata(
            "elemental.recording",
            [
                ("version", "1"), ("clock", options.clock.name), ("start", String(options.clock.start)),
                ("note", "log_time is start, the wall clock then, and the time since by a clock that nobody sets"),
            ])
        add(RecordedEvent.schema)
        add(RecordedEvent.channel(RecordQueue.eventChannel))
    }

    var valueCount: Int {
        Int(written.messageCount - (written.messageCounts[RecordQueue.eventChannel] ?? 0))
    }

    /// - Parameter flushes: whether everything is to be in the file then.
    /// - Throws: ``RecordingError``, after which nothing but ``finish(_:lostCount:_:)`` may follow.
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

    /// - Parameter failure: why writing ended; `nil` if it did not.
    func finish(_ failure: RecordingError?, lostCount: Int, _ clock: RecordingClock) throws(RecordingError) {
        if failure == nil || failure?.code == .limitReached {
            reservedByteCount = 0
            // A file without this is complete as well.
            dropChunk()
            try? addMetadata(
                "elemental.end",
                [
                    ("end", String(clock.now)), ("lost", String(lostCount)),
                    // By how many nanoseconds the wall clock was set meanwhile.
                    ("wallClockStep", String(Int64(bitPattern: WallClock.nanoseconds &- clock.now))),
                ])
        }
        try finish()
    }
}
