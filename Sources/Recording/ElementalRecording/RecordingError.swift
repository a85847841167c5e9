internal import Support

/// Why a recording cannot be written or read: a code to act on, and what to do in words.
public struct RecordingError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. More may be added; give a `switch` a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: CaseIterable {
            case fileExists, noSuchFile, permissionDenied, readOnly, diskFull, limitReached, removed, inputOutput
            case notMCAP, compressed, damaged, tooLarge, nothingToReplay, cancelled
        }
        let value: Value

        /// The kind as one word, such as `diskFull`.
        public var description: String { "\(value)" }

        /// A file of that name is there already. Recordings are never written over.
        public static let fileExists = Code(value: .fileExists)
        /// There is no such file or folder.
        public static let noSuchFile = Code(value: .noSuchFile)
        /// The system does not permit it.
        public static let permissionDenied = Code(value: .permissionDenied)
        /// The file system can only be read.
        public static let readOnly = Code(value: .readOnly)
        /// No space is left on the disk, or for this user, or in a file of the allowed size.
        public static let diskFull = Code(value: .diskFull)
        /// The file was removed while it was written.
        public static let removed = Code(value: .removed)
        /// The file has reached the size that it may have.
        public static let limitReached = Code(value: .limitReached)
        /// The system reported another error of the disk.
        public static let inputOutput = Code(value: .inputOutput)
        /// The file is not an MCAP file.
        public static let notMCAP = Code(value: .notMCAP)
        /// The file's chunks are compressed.
        public static let compressed = Code(value: .compressed)
        /// The file contradicts itself.
        public static let damaged = Code(value: .damaged)
        /// The file asks for more memory than is given to it.
        public static let tooLarge = Code(value: .tooLarge)
        /// The file has no values that can be replayed.
        public static let nothingToReplay = Code(value: .nothingToReplay)
        /// The task was cancelled.
        public static let cancelled = Code(value: .cancelled)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do. Names from the file and the network may be in it.
    public let message: String

    public var description: String { message.printable }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
