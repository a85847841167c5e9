internal import Support
internal import Synchronization

/// Bytes that are read from any place: a file, or memory.
protocol ByteSource {
    /// How many bytes there are.
    var byteCount: UInt64 { get }
    /// Reads up to as many bytes as `target` holds.
    ///
    /// - Returns: how many were read; 0 at the end.
    func read(at offset: UInt64, into target: UnsafeMutableRawBufferPointer) throws(RecordingError) -> Int
}

/// A file that is read. Its calls block.
final class InputFile: ByteSource {
    let path: String
    let byteCount: UInt64
    private let descriptor: CInt
    private let cancellation: ReadCancellation?

    init(path: String, _ cancellation: ReadCancellation? = nil) throws(RecordingError) {
        self.path = path
        self.cancellation = cancellation
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            byteCount = 0
            throw RecordingError(path, cannot: "read", errno)
        }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        byteCount = isFile ? UInt64(max(0, status.st_size)) : 0
        guard isFile else {
            throw RecordingError(
                .notMCAP, "cannot read \(path): it is not a file; a recording in a pipe cannot be read")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func read(at offset: UInt64, into target: UnsafeMutableRawBufferPointer) throws(RecordingError) -> Int {
        if cancellation?.isCancelled == true { throw RecordingError(.cancelled, "reading \(path) was cancelled") }
        while true {
            let count = pread(descriptor, target.baseAddress, target.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw RecordingError(path, cannot: "read", errno) }
        }
    }
}

/// Ends the reading of a file, from any thread.
final class ReadCancellation: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }

    func cancel() { flag.store(true, ordering: .relaxed) }
}

/// Bytes in memory.
struct MemoryBytes: ByteSource {
    let bytes: [UInt8]

    var byteCount: UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, into target: UnsafeMutableRawBufferPointer) -> Int {
        guard offset < byteCount else { return 0 }
        let count = min(target.count, bytes.count - Int(offset))
        bytes.withUnsafeBytes {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[Int(offset)...][..<(Int(offset) + count)]))
        }
        return count
    }
}
