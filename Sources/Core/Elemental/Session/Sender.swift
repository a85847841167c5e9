import ElementalWire
import Logging
import NIOCore
import Support

/// Writes what a device has queued, over TCP and UDP, as much as the sockets take. On the event loop.
final class Sender {
    /// Bytes written in one turn of the loop before other connections get theirs.
    private static let turnByteCount = 1024 * 1024
    /// When a full UDP socket is tried again.
    private static let datagramRetryTime = TimeAmount.milliseconds(1)
    /// How long values are gathered that pour in.
    private static let gatheringTime = TimeAmount.microseconds(200)

    /// Where datagrams go; `nil` while they cannot be sent.
    var datagramSink: DatagramSink?
    /// Told after each flush what is left to do.
    var didFlush: (PendingWork) -> Void = { _ in }
    /// Bytes that the connection took.
    private(set) var writtenByteCount = 0

    private let device: ElementalDevice
    private let bytes: ByteChannel
    private let progress: ProgressReporter
    private let logger: Logger
    /// What is being written, in pieces where the socket takes no more.
    private var outgoing: OutboundSegment?
    /// When a flush comes because values are being gathered; `nil` if no timer runs for it.
    private var gatheringEnd: NIODeadline?
    private var isOver = false
    /// Bytes of pieces that came, and whether the peer has yet to be told.
    private var takenByteCount: UInt32 = 0
    private var needsAck = false

    init(_ device: ElementalDevice, _ bytes: ByteChannel, _ progress: ProgressReporter, logger: Logger) {
        self.device = device
        self.bytes = bytes
        self.progress = progress
        self.logger = logger
    }

    /// Writes what is queued, as much as the sockets take.
    func flush() {
        guard !isOver else { return }
        sendAck()
        let pending = flushStream()
        if pending.contains(.datagrams) { flushDatagrams() }
        // Datagrams that left may have made room that was not there before, for a sender that has come since, too.
        if pending.contains(.datagrams)
            || pending.contains(.room) && (pending.contains(.waiters) || device.congestion.isAny)
        {
            wakeWaiters()
        }
        didFlush(pending)
    }

    /// The connection is over: nothing is written any more.
    ///
    /// - Returns: messages that were being written.
    func stop() -> Int {
        defer { outgoing = nil }
        isOver = true
        didFlush = { _ in }
        return outgoing?.messageCount ?? 0
    }

    /// Queues a frame of the system's own; the caller sees to it that a flush follows.
    func queue(_ element: SystemElement, _ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        device.outbound.withLock { outbound in
            bytes.withUnsafeBytes { outbound.appendSystem(element, $0) }
        }
    }

    /// Whether anything of the stream is unsent.
    var isStreamUnsent: Bool { device.outbound.withLock { $0.isStreamUnsent } }

    /// Bytes that the peer's system has taken. Those that only left for this system's buffer would not do: it holds some
    /// megabytes and asks for more when a third of them is gone, which takes a slow reader many seconds.
    var acknowledgedByteCount: Int { writtenByteCount &- bytes.unacknowledgedByteCount }

    // MARK: The stream

    /// - Returns: what is left to do; of the stream, what the socket did not take, which is written when it takes more.
    private func flushStream() -> PendingWork {
        var written = (bytes: 0, messages: 0)
        var spare: ByteBuffer?
        var isMoreQueued = false
        defer { writtenByteCount &+= written.bytes }
        guard outgoing == nil || !isBlocked else { return pendingWork() }
        while written.bytes < Self.turnByteCount {
            guard bytes.isActive else { return pendingWork(isScheduled: true) }
            if outgoing == nil {
                let (step, pending) = device.outbound.withLock { outbound in
                    // A send that comes later asks for another flush, or is seen by this one.
                    let step = outbound.nextStreamStep(written: written.messages, spare: spare.take())
                    return (step, outbound.findPendingWork())
                }
                switch step {
                case .write(let segment, let isFollowed):
                    written.messages += segment.messageCount
                    outgoing = segment
                    isMoreQueued = isFollowed
                case .gather:
                    flushLater()
                    return pending
                case .wait:
                    return pending
                }
            }
            written.bytes += outgoing?.write { bytes.write($0, $1, more: isMoreQueued) } ?? 0
            if let progress = outgoing?.wholeProgress { self.progress.report(progress, .outgoing) }
            if outgoing?.isComplete == true {
                spare = outgoing?.buffer
                outgoing = nil
            } else if !handOver() {
                return pendingWork()
            }
        }
        device.eventLoop.assumeIsolated().execute { [self] in flush() }
        return pendingWork(isScheduled: true)
    }

    /// Whether NIO holds a piece that the socket did not take.
    private var isBlocked: Bool { device.outbound.withLock { $0.streamFlush == .blocked } }

    /// - Parameter isScheduled: whether a flush is sure to come, so that no send needs to wake the loop.
    private func pendingWork(isScheduled: Bool = false) -> PendingWork {
        device.outbound.withLock { outbound in
            if isScheduled { outbound.streamFlush.schedule() }
            return outbound.findPendingWork()
        }
    }

    /// What is gathered from now on leaves when the time is over, if it does not make a segment before.
    private func flushLater() {
        let isTimed = gatheringEnd != nil
        gatheringEnd = device.eventLoop.now + Self.gatheringTime
        if !isTimed { flushWhenGathered() }
    }

    private func flushWhenGathered() {
        guard let end = gatheringEnd else { return }
        device.eventLoop.assumeIsolated().scheduleTask(deadline: end) { [self] in
            // A segment may have left meanwhile, and gathering have begun anew.
            if let end = gatheringEnd, end > device.eventLoop.now, !isOver { return flushWhenGathered() }
            gatheringEnd = nil
            flush()
        }
    }

    /// The socket is full, or there is none to write to directly: the channel gets a piece and says when it is written.
    ///
    /// - Returns: whether it is written already.
    private func handOver() -> Bool {
        guard let piece = outgoing?.takePiece() else { return true }
        if outgoing?.isComplete == true { outgoing = nil }
        device.outbound.withLock { $0.streamFlush = .blocked }
        let byteCount = piece.readableBytes
        var hasReturned = false
        var isWritten = false
        bytes.handOver(piece) { [self] in
            // The device may have another connection by now.
            guard !isOver else { return }
            isWritten = true
            writtenByteCount &+= byteCount
            device.outbound.withLock { $0.streamFlush.unblock() }
            if hasReturned { flush() }
        }
        hasReturned = true
        return isWritten
    }

    private func wakeWaiters() {
        let waiters = device.outbound.withLock { $0.takeWaiters(device.congestion) }
        for waiter in waiters { waiter.continuation.resume() }
    }
}

/// Datagrams.
extension Sender {
    private func flushDatagrams() {
        guard let sink = datagramSink else { return }
        while let segment = device.outbound.withLock({ $0.nextDatagram() }) {
            switch sink.write(segment.buffer) {
            case .taken: break
            case .full:
                device.outbound.withLock { $0.returnDatagram(segment) }
                return retryDatagrams()
            case .lost(let code):
                device.state.withLock { $0.inbound.statistics.datagramsDropped += 1 }
                let reason = String(systemError: code)
                logger.debug(
                    "datagram not sent",
                    metadata: [
                        "device": "\(device.name)", "messages": "\(segment.messageCount)", "reason": "\(reason)",
                    ])
            }
        }
    }

    /// The system's buffer is full: it empties as fast as the link is, and nobody tells when.
    private func retryDatagrams() {
        device.eventLoop.assumeIsolated().scheduleTask(in: Self.datagramRetryTime) { [self] in
            guard !isOver else { return }
            device.outbound.withLock { $0.datagramFlush.unblock() }
            flush()
        }
    }
}

/// Acknowledgements of pieces.
extension Sender {
    /// Pieces came that have to be acknowledged.
    func noteTaken(_ byteCount: Int) {
        takenByteCount &+= UInt32(byteCount)
        needsAck = true
    }

    /// Acknowledges, once for all that a read brought, the pieces that were taken, so that the peer may send more.
    private func sendAck() {
        guard needsAck else { return }
        let isQueued = device.outbound.withLock { outbound in
            withUnsafeBytes(of: takenByteCount.littleEndian) { outbound.appendAnswer(.piecesTaken, $0) }
        }
        needsAck = !isQueued
    }

    /// The peer acknowledges pieces.
    ///
    /// - Returns: whether that can be.
    func receiveAck(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let count = UInt32(wireBytes: value), let all = device.outbound.withLock({ $0.pieces.acknowledge(count) })
        else { return false }
        for progress in all { self.progress.report(progress, .outgoing) }
        return true
    }
}
