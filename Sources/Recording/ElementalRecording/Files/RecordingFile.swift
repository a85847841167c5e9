internal import Support

/// A file that is being recorded. Its calls block, so it belongs to a thread that may.
final class RecordingFile {
    let path: String
    private let descriptor: CInt
    /// Where the next byte goes, which is the file's end.
    private(set) var position: UInt64 = 0

    /// Makes the file.
    ///
    /// - Throws: ``RecordingError`` with the code ``RecordingError/Code/fileExists`` if it is there already.
    init(creating path: String) throws(RecordingError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0o666)
        guard descriptor >= 0 else { throw RecordingError(path, cannot: "record to", errno) }
    }

    /// A file without a name beside that one, which is gone when it is closed.
    init(besides path: String) throws(RecordingError) {
        self.path = path
        var template = Array((path + ".XXXXXX").utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw RecordingError(path, cannot: "make a file beside", errno) }
        _ = template.withUnsafeBufferPointer { name in name.baseAddress.map { unlink($0) } }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Writes all bytes at the end.
    ///
    /// - Throws: ``RecordingError``; a part of the bytes may be in the file then.
    func write(_ bytes: [UInt8]) throws(RecordingError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: $0[written...]))
            }
            if count > 0 {
                written += count
                position += UInt64(count)
            } else if count == 0 || errno != EINTR {
                throw RecordingError(path, cannot: "go on recording to", count == 0 ? ENOSPC : errno)
            }
        }
    }

    /// Removes everything behind `end`.
    func truncate(to end: UInt64) throws(RecordingError) {
        guard ftruncate(descriptor, off_t(end)) == 0, lseek(descriptor, off_t(end), SEEK_SET) >= 0 else {
            throw RecordingError(path, cannot: "shorten", errno)
        }
        position = end
    }

    /// Calls `body` with everything in the file, piece by piece, from the beginning.
    func forEachPiece(_ body: ([UInt8]) throws(RecordingError) -> Void) throws(RecordingError) {
        var offset: UInt64 = 0
        while offset < position {
            let count = Int(min(position - offset, 256 << 10))
            var piece = [UInt8](repeating: 0, count: count)
            let read = piece.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(offset)) }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw RecordingError(path, cannot: "read the index of", read == 0 ? EIO : errno) }
            try body(Array(piece[..<read]))
            offset += UInt64(read)
        }
    }

    /// Whether nobody could open the file any more, since it has been removed.
    var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }

    /// Waits until everything is on the disk.
    func synchronise() throws(RecordingError) {
        while fsync(descriptor) != 0 {
            if errno == EINTR { continue }
            // What cannot be synchronised, such as a file on some network file systems, is no failure.
            if errno == EINVAL || errno == ENOTSUP { return }
            throw RecordingError(path, cannot: "finish", errno)
        }
    }
}

extension RecordingError {
    /// What the system said about a file, and what to do.
    ///
    /// - Parameters:
    ///   - action: what was tried, as in "record to".
    ///   - error: `errno`.
    init(_ path: String, cannot action: String, _ error: CInt) {
        let (code, reason): (Code, String) =
            switch error {
            case EEXIST:
                (
                    .fileExists,
                    "it is there already, and recordings are not written over; remove it or give another name"
                )
            case ENOENT, ENOTDIR: (.noSuchFile, "there is no such file or folder")
            case EACCES, EPERM: (.permissionDenied, "permission is denied")
            case EROFS: (.readOnly, "the file system is read-only")
            case ENOSPC, EDQUOT: (.diskFull, "no space is left on the disk")
            case EFBIG: (.diskFull, "files may not be larger here (ulimit -f)")
            case EISDIR: (.permissionDenied, "it is a folder")
            default: (.inputOutput, String(cString: strerror(error)))
            }
        self.init(code, "cannot \(action) \(path): \(reason)")
    }
}

// Outside the class this name means the C library's function.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
