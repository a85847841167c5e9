internal import Support

/// Why a recording cannot be written or read: a code for the program, and a message for the user.
public struct RecordingError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. Cases may be added; give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: CaseIterable {
            case fileExists, noSuchFile, permissionDenied, readOnly, diskFull, limitReached, removed, inputOutput
            case notMCAP, compressed, damaged, tooLarge, nothingToReplay, cancelled
        }
        let value: Value

        /// The kind as one word, such as `diskFull`.
        public var description: String { "\(value)" }

        /// A file with that name already exists. Recordings are never overwritten.
        public static let fileExists = Code(value: .fileExists)
        /// The file or folder does not exist.
        public static let noSuchFile = Code(value: .noSuchFile)
        /// The system does not permit it.
        public static let permissionDenied = Code(value: .permissionDenied)
        /// The file system is read-only.
        public static let readOnly = Code(value: .readOnly)
        /// The disk is full, or the user's quota or the maximum file size is used up.
        public static let diskFull = Code(value: .diskFull)
        /// The file was removed while it was written.
        public static let removed = Code(value: .removed)
        /// The file has reached its maximum size.
        public static let limitReached = Code(value: .limitReached)
        /// The system reported another disk error.
        public static let inputOutput = Code(value: .inputOutput)
        /// The file is not an MCAP file.
        public static let notMCAP = Code(value: .notMCAP)
        /// The file's chunks are compressed.
        public static let compressed = Code(value: .compressed)
        /// The file contradicts itself.
        public static let damaged = Code(value: .damaged)
        /// The file requires more memory than the maximum.
        public static let tooLarge = Code(value: .tooLarge)
        /// The file has no values that can be replayed.
        public static let nothingToReplay = Code(value: .nothingToReplay)
        /// The task was cancelled.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do. It may contain names from the file and the network.
    public let message: String

    /// The message with control characters escaped.
    public var description: String { message.printable }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
