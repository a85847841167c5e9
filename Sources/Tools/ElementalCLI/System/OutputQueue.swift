import Dispatch
import Elemental
import Support

/// Bytes on their way to standard output, standard error, or both, written by a thread of their own: when the reader stops
/// reading, only that thread blocks.
///
/// The queue itself accepts everything: callers check ``hasRoom(withReserve:)`` or wait in ``waitForRoom()``.
final class OutputQueue: Sendable {
    /// The high watermark in bytes: above it ``waitForRoom()`` suspends.
    static let capacity = 256 * 1024
    /// The low watermark in bytes: at it suspended callers resume.
    private static let lowWatermark = capacity / 2
    /// The largest atomic write to a pipe (PIPE_BUF on Linux), so that lines of several processes do not mix.
    private static let pieceSize = 4096

    /// Consecutive bytes, and the length and destination of each part of them.
    private struct Batch {
        var bytes: [UInt8] = []
        var parts: [(descriptor: Int32, count: Int)] = []
    }

    private struct State {
        var pending = Batch()
        /// The bytes in `pending` and those being written.
        var byteCount = 0
        var progress: UInt64 = 0
        var isWriting = false
        var isClosed = false
        var broken: Set<Int32> = []
        /// Latches by a number of bytes. Each opens once no more bytes than this are queued.
        var waiting: [Int: Latch] = [:]
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "elemental.output")
    private let onBroken: @Sendable (_ descriptor: Int32, _ code: Int32) -> Void

    /// - Parameter onBroken: called once for each descriptor that can no longer be written to, with its `errno`.
    init(onBroken: @escaping @Sendable (_ descriptor: Int32, _ code: Int32) -> Void) { self.onBroken = onBroken }

    /// Whether fewer bytes wait than the high watermark and a reserve.
    func hasRoom(withReserve reserve: Int = 0) -> Bool { state.withLock { $0.byteCount < Self.capacity + reserve } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var isEmpty: Bool { state.withLock { $0.byteCount == 0 } }

    /// The number of written pieces, which grows while a reader reads.
    var progress: UInt64 { state.withLock { $0.progress } }

    /// Queues bytes that belong together, without waiting.
    func add(_ bytes: some Collection<UInt8>, to descriptor: Int32) {
        let mustStart = state.withLock { state in
            guard !state.isClosed, !state.broken.contains(descriptor), !bytes.isEmpty else { return false }
            state.pending.bytes += bytes
            state.pending.parts.append((descriptor, bytes.count))
            state.byteCount += bytes.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { queue.async { self.write() } }
    }

    /// Waits until there is room for more, or the task is cancelled.
    func waitForRoom() async { if !hasRoom() { await wait(untilAtMost: Self.lowWatermark) } }

    func waitUntilEmpty() async { await wait(untilAtMost: 0) }

    /// Drops what has not been written, and everything that is queued later.
    func close() {
        finish { state in
            state.isClosed = true
            state.pending = Batch()
            state.byteCount = 0
        }
    }

    private func wait(untilAtMost threshold: Int) async {
        let isReached: Latch? = state.withLock { state in
            guard state.byteCount > threshold else { return nil }
            let latch = state.waiting[threshold] ?? Latch()
            state.waiting[threshold] = latch
            return latch
        }
        await isReached?.wait()
    }

    /// Changes the state, and resumes the callers that waited for it.
    private func finish(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            for (threshold, latch) in state.waiting where state.byteCount <= threshold {
                state.waiting[threshold] = nil
                latch.open()
            }
        }
    }

    private func write() {
        var batch = Batch()
        while true {
            let isDone = state.withLock { state in
                state.isWriting = !state.pending.parts.isEmpty
                swap(&batch, &state.pending)
                return !state.isWriting
            }
            if isDone { return }
            write(batch)
            batch.parts.removeAll(keepingCapacity: true)
            // The memory of a single long value is not kept.
            batch.bytes.removeAll(keepingCapacity: batch.bytes.capacity <= 2 * Self.capacity)
        }
    }

    private func write(_ batch: Batch) {
        var start = 0
        var index = 0
        while index < batch.parts.count {
            let descriptor = batch.parts[index].descriptor
            var count = batch.parts[index].count
            index += 1
            // As many parts as fit into one piece.
            while index < batch.parts.count, batch.parts[index].descriptor == descriptor,
                count + batch.parts[index].count <= Self.pieceSize
            {
                count += batch.parts[index].count
                index += 1
            }
            batch.bytes.withUnsafeBytes {
                write(UnsafeRawBufferPointer(rebasing: $0[start..<start + count]), to: descriptor)
            }
            start += count
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceSize))
            let isWanted = state.withLock { !$0.isClosed && !$0.broken.contains(descriptor) }
            let isWritten = isWanted && Descriptor.writeAll(piece, to: descriptor)
            if isWanted, !isWritten { reportBroken(descriptor, errno) }
            // Bytes that cannot be written are no longer queued either.
            finish { state in
                state.byteCount = max(0, state.byteCount - piece.count)
                if isWritten { state.progress &+= 1 }
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    private func reportBroken(_ descriptor: Int32, _ code: Int32) {
        state.withLock { _ = $0.broken.insert(descriptor) }
        onBroken(descriptor, code)
    }
}
