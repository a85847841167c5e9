internal import Support

extension Recording {
    /// Returns the number of messages of each channel after an offset of a file; `nil` if the file does not exist or is
    /// another one. It blocks.
    ///
    /// - Parameters:
    ///   - start: ``RecordedPositions/start``.
    ///   - place: ``RecordedPositions/byteCount``.
    package static func messageCounts(
        of path: String, begunAt start: UInt64, behind place: UInt64
    ) -> [UInt16: Int]? {
        guard let file = try? RecordingFile(reading: path), place <= file.byteCount,
            let head = try? file.read(at: 0, Int(min(512, place))), head.firstRange(of: entry(start)) != nil
        else { return nil }
        var cursor = MCAPCursor(file, at: place)
        cursor.skipsMessageData = true
        var counts: [UInt16: Int] = [:]
        records: while let record = try? cursor.next() {
            switch record {
            case .message(let message): counts[message.channelID, default: 0] += 1
            case .dataEnd: break records
            default: break
            }
        }
        return counts
    }

    /// Returns the entry of the metadata `elemental.recording` that a recorder writes first.
    private static func entry(_ start: UInt64) -> [UInt8] {
        var bytes = [UInt8]()
        for text in ["start", String(start)] { bytes.add(text) }
        return bytes
    }
}
