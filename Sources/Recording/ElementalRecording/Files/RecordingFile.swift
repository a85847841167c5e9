internal import Support

/// A file for recording or reading. Its calls block, so use it only on a thread that may block.
final class RecordingFile {
    let path: String
    private let descriptor: CInt
    /// The file's length, where the next byte is written. When reading, its length when it was opened.
    private(set) var byteCount: UInt64 = 0
    /// Whether to stop reading; set from any thread.
    private var isCancelled = Locked(false)

    init(reading path: String, _ isCancelled: Locked<Bool> = Locked(false)) throws(RecordingError) {
        self.path = path
        self.isCancelled = isCancelled
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw RecordingError(path, cannot: "read", errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw RecordingError(
                .notMCAP, "cannot read \(path): it is not a regular file; save a piped recording to a file first")
        }
        byteCount = UInt64(max(0, status.st_size))
    }

    /// Creates the file, which must not exist.
    init(creating path: String) throws(RecordingError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0o666)
        guard descriptor >= 0 else { throw RecordingError(path, cannot: "record to", errno) }
    }

    /// Creates a file without a name in the same folder. It is gone when it is closed.
    init(besides path: String) throws(RecordingError) {
        self.path = path
        var template = Array((path + ".XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw RecordingError(path, cannot: "create a file next to", errno) }
        _ = template.withUnsafeBufferPointer { name in name.baseAddress.map { unlink($0) } }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads this number of bytes, or fewer at the end of the file.
    func read(at offset: UInt64, _ count: Int) throws(RecordingError) -> [UInt8] {
        if isCancelled.withLock({ $0 }) { throw RecordingError(.cancelled, "reading \(path) was cancelled") }
        var failure: CInt?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
            while size < count, failure == nil {
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[size...])
                let more = pread(descriptor, rest.baseAddress, count - size, off_t(offset) + off_t(size))
                if more == 0 { break }
                if more > 0 { size += more } else if errno != EINTR { failure = errno }
            }
        }
        if let failure { throw RecordingError(path, cannot: "read", failure) }
        return bytes
    }

    /// Appends bytes. If it throws, a part of them may be in the file.
    func append(_ bytes: [UInt8]) throws(RecordingError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count > 0 {
                written += count
                byteCount += UInt64(count)
            } else if count == 0 || errno != EINTR {
                throw RecordingError(path, cannot: "continue recording to", count == 0 ? ENOSPC : errno)
            }
        }
    }

    func truncate(to end: UInt64) throws(RecordingError) {
        guard ftruncate(descriptor, off_t(end)) == 0, lseek(descriptor, off_t(end), SEEK_SET) >= 0 else {
            throw RecordingError(path, cannot: "truncate", errno)
        }
        byteCount = end
    }

    var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }

    func synchronise() throws(RecordingError) {
        while fsync(descriptor) != 0 {
            if errno == EINTR { continue }
            // Some files, as on some network file systems, cannot be synchronised: that is not a failure.
            if errno == EINVAL || errno == ENOTSUP { return }
            throw RecordingError(path, cannot: "finish", errno)
        }
    }
}

extension RecordingError {
    /// - Parameter action: the failed action, as in "record to".
    init(_ path: String, cannot action: String, _ error: CInt) {
        let (code, reason): (Code, String) =
            switch error {
            case EEXIST:
                (
                    .fileExists,
                    "it already exists; remove it or choose another name"
                )
            case ENOENT, ENOTDIR: (.noSuchFile, "there is no such file or folder")
            case EACCES, EPERM: (.permissionDenied, "permission is denied")
            case EROFS: (.readOnly, "the file system is read-only")
            case ENOSPC, EDQUOT: (.diskFull, "no space is left on the disk")
            case EFBIG: (.diskFull, "the maximum file size is reached; raise it with ulimit -f")
            case EISDIR: (.permissionDenied, "it is a folder")
            default: (.inputOutput, String(cString: strerror(error)))
            }
        self.init(code, "cannot \(action) \(path): \(reason)")
    }
}
