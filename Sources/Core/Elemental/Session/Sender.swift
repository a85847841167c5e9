import ElementalSecurity
import ElementalWire
import NIOCore
import Support

/// Writes a device's queues over TCP and UDP, as much as the sockets accept. On the event loop.
final class Sender {
    /// Bytes written in one turn of the loop before it yields to other connections.
    private static let turnByteCount = 1024 * 1024
    /// The delay before a full UDP socket is retried.
    private static let datagramRetryTime = TimeAmount.milliseconds(1)
    /// How long values sent at a high rate are batched: between half of this time and one and a half of it.
    ///
    /// Batches end at whole multiples of it, at the same time for all connections of a loop. Otherwise a service that
    /// sends to many devices would be woken for each of them.
    private static let gatheringTime = TimeAmount.microseconds(200)

    /// Where datagrams are sent; `nil` while they cannot be.
    var datagramSink: DatagramSink?
    var didFlush: (PendingWork) -> Void = { _ in }
    private var ownByteCount = 0

    private let device: ElementalDevice
    private let bytes: ByteChannel
    private let progress: ProgressReporter
    private let datagramProtection: DatagramProtection?
    /// The segment being written, in parts where the socket accepts no more.
    private var outgoing: OutboundSegment?
    /// When the flush of the values being batched is due; `nil` if no timer is running for it.
    private var gatheringEnd: NIODeadline?
    private var isOver = false
    /// Bytes of the pieces received, and whether the peer is owed an acknowledgement.
    private var takenByteCount: UInt32 = 0
    private(set) var owesAck = false

    init(
        _ device: ElementalDevice, _ bytes: ByteChannel, _ progress: ProgressReporter,
        _ datagramProtection: DatagramProtection? = nil
    ) {
        self.device = device
        self.bytes = bytes
        self.progress = progress
        self.datagramProtection = datagramProtection
    }

    /// Writes what is queued, as much as the sockets accept.
    func flush() {
        guard !isOver else { return }
        sendAck()
        let pending = flushStream()
        if pending.contains(.datagrams) { flushDatagrams() }
        // Sent datagrams may have made room, also for a sender that began to wait meanwhile.
        let mayWait = !pending.isDisjoint(with: [.datagrams, .waiters])
        if !pending.isDisjoint(with: [.datagrams, .room]), mayWait || device.congestion.isAny {
            let waiters = device.outbound.withLock { $0.takeWaiters(device.congestion) }
            for waiter in waiters { waiter.outcome.resolve(nil) }
        }
        didFlush(pending)
    }

    /// - Returns: the number of values that were being written.
    func stop() -> Int {
        defer { outgoing = nil }
        isOver = true
        didFlush = { _ in }
        return outgoing?.valueCount ?? 0
    }

    /// Queues a system frame; the caller makes sure that a flush follows.
    func queue(_ element: SystemElement, _ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        device.outbound.withLock { outbound in
            bytes.withUnsafeBytes { outbound.appendSystem(element, $0) }
        }
    }

    var writtenByteCount: Int { ownByteCount &+ device.outbound.withLock { $0.stream.directByteCount } }

    var isStreamUnsent: Bool { device.outbound.withLock { $0.isStreamUnsent } }

    /// Bytes that reached the peer's system. The bytes that this system's buffer has accepted are no substitute: it
    /// holds some megabytes and accepts more only when a third of them is gone, which takes many seconds with a slow
    /// reader.
    var acknowledgedByteCount: Int { writtenByteCount &- bytes.unacknowledgedByteCount }

    // MARK: The stream

    /// - Returns: the work that is left; the part of the stream that the socket did not accept is written when it
    ///   becomes writable.
    private func flushStream() -> PendingWork {
        var written = (bytes: 0, messages: 0)
        var spare: ByteBuffer?
        var isMoreQueued = false
        // Kept for this turn only, so that an idle connection is small.
        var pieceStorage = ByteBuffer()
        defer { ownByteCount &+= written.bytes }
        // NIO may hold a part that the socket did not accept.
        if outgoing != nil, device.outbound.withLock({ $0.stream.flush == .blocked }) { return pendingWork() }
        var isActive = bytes.isActive
        while written.bytes < Self.turnByteCount {
            guard isActive else { return pendingWork(isScheduled: true) }
            if outgoing == nil {
                let (step, pending) = device.outbound.withLock { outbound in
                    // A later send requests another flush, or is included in this one.
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
            let isPassed = bytes.hasPipelineRoom
            if isPassed {
                written.bytes += passOutgoing(more: isMoreQueued, in: &pieceStorage)
            } else {
                written.bytes += outgoing?.write { bytes.write($0, $1, more: isMoreQueued) } ?? 0
            }
            if let progress = outgoing?.wholeProgress { self.progress.report(progress, .outgoing) }
            if outgoing?.isComplete == true {
                spare = outgoing?.buffer
                outgoing = nil
                if !isPassed { continue }
            } else if !isPassed, !handOver() {
                return pendingWork()
            }
            // Writing may have ended the channel.
            isActive = bytes.isActive
        }
        device.eventLoop.assumeIsolated().execute { [self] in flush() }
        return pendingWork(isScheduled: true)
    }

    /// - Parameter isScheduled: whether a flush will follow, so that no send needs to wake the loop.
    private func pendingWork(isScheduled: Bool = false) -> PendingWork {
        device.outbound.withLock { outbound in
            if isScheduled { outbound.stream.flush.schedule() }
            return outbound.findPendingWork()
        }
    }

    private func flushLater() {
        let isTimed = gatheringEnd != nil
        let (now, period) = (device.eventLoop.now.uptimeNanoseconds, UInt64(Self.gatheringTime.nanoseconds))
        gatheringEnd = .uptimeNanoseconds(((now + period / 2) / period + 1) * period)
        if !isTimed { flushWhenGathered() }
    }

    private func flushWhenGathered() {
        guard let end = gatheringEnd else { return }
        device.eventLoop.assumeIsolated().scheduleTask(deadline: end) { [self] in
            // A segment may have been written meanwhile, and a new batch started.
            if let end = gatheringEnd, end > device.eventLoop.now, !isOver { return flushWhenGathered() }
            gatheringEnd = nil
            flush()
        }
    }

    private func passOutgoing(more isMoreQueued: Bool, in storage: inout ByteBuffer) -> Int {
        guard let piece = outgoing?.takePiece(atMost: OutboundSegment.pipelineByteCount, in: &storage) else { return 0 }
        bytes.pass(piece, more: isMoreQueued || outgoing?.isComplete == false)
        return piece.readableBytes
    }

    /// Gives a part to the channel because the socket is full, or cannot be written to directly.
    ///
    /// - Returns: whether it is already written.
    private func handOver() -> Bool {
        guard let piece = outgoing?.takePiece() else { return true }
        if outgoing?.isComplete == true { outgoing = nil }
        device.outbound.withLock { $0.stream.flush = .blocked }
        let byteCount = piece.readableBytes
        var hasReturned = false
        var isWritten = false
        bytes.handOver(piece) { [self] in
            // The device may have another connection by now.
            guard !isOver else { return }
            isWritten = true
            ownByteCount &+= byteCount
            device.outbound.withLock { $0.stream.flush.unblock() }
            if hasReturned { flush() }
        }
        hasReturned = true
        return isWritten
    }
}

extension Sender {
    /// Sends the queued datagrams until the system's buffer is full.
    private func flushDatagrams() {
        guard let sink = datagramSink else { return }
        while let segment = device.outbound.withLock({ $0.nextDatagram() }) {
            let outcome = segment.buffer.withUnsafeReadableBytes { write($0, to: sink) }
            guard device.settle(messageCount: segment.messageCount, outcome) else {
                device.outbound.withLock { $0.returnDatagram(segment) }
                return retryDatagrams()
            }
        }
    }

    private func write(_ datagram: UnsafeRawBufferPointer, to sink: DatagramSink) -> DatagramSocket.Outcome {
        guard let datagramProtection else { return sink.socket.write(datagram, to: sink.remote) }
        guard let sealed = datagramProtection.seal(datagram) else {
            return .lost("the connection's key has sealed its maximum of datagrams; connect again")
        }
        return sink.socket.write(sealed, to: sink.remote)
    }

    /// The system's buffer is full: it drains at the speed of the link, without a notification.
    private func retryDatagrams() {
        device.eventLoop.assumeIsolated().scheduleTask(in: Self.datagramRetryTime) { [self] in
            guard !isOver else { return }
            device.outbound.withLock { $0.datagrams.flush.unblock() }
            flush()
        }
    }
}

extension Sender {
    func noteTaken(_ byteCount: Int) {
        takenByteCount &+= UInt32(byteCount)
        owesAck = true
    }

    /// Acknowledges the pieces received, once per batch of reads, so that the peer may send more.
    private func sendAck() {
        guard owesAck else { return }
        let isQueued = device.outbound.withLock { outbound in
            withUnsafeBytes(of: takenByteCount.littleEndian) { outbound.appendAnswer(.piecesTaken, $0) }
        }
        owesAck = !isQueued
    }

    /// - Returns: whether the acknowledgement is valid.
    func receiveAck(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let count = UInt32(wireBytes: value), let all = device.outbound.withLock({ $0.acknowledge(count) })
        else { return false }
        for progress in all { self.progress.report(progress, .outgoing) }
        return true
    }
}
