/// What a recording became.
public struct RecordingSummary: Sendable {
    /// Why it ended.
    public enum End: Sendable {
        /// ``Recorder/finish()`` was called.
        case finished
        /// The file has reached ``RecorderOptions/maximumByteCount``.
        case limitReached
        /// It cannot be written any more. What was written before can be read.
        case failed(RecordingError)
    }

    /// The file.
    public let path: String
    /// Why it ended.
    public let end: End
    /// The values in the file.
    public let valueCount: Int
    /// The values that came and are not in the file, because they came faster than the disk took them or could not be
    /// written.
    public let lostCount: Int
    /// The file's length in bytes.
    public let byteCount: UInt64
    /// From the recorder's beginning to its end.
    public let duration: Duration
}
