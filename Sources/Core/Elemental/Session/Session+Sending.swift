import ElementalWire
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Session {
    /// Bytes written in one turn of the loop before other connections get theirs.
    private static let turnByteCount = 1024 * 1024

    /// When a full UDP socket is tried again.
    private static let datagramRetryTime = TimeAmount.milliseconds(1)

    /// How long values are gathered that pour in.
    private static let gatheringTime = TimeAmount.microseconds(200)

    /// Writes what is queued, as much as the sockets take.
    func flush() {
        guard let context else { return }
        sendAck()
        let pending = flushStream(context)
        if pending.contains(.datagrams) { flushDatagrams() }
        // Datagrams that left may have made room that was not there before, for a sender that has come since, too.
        if pending.contains(.datagrams)
            || pending.contains(.room) && (pending.contains(.waiters) || device.congestion.isAny)
        {
            wakeWaiters()
        }
        if pending.contains(.stream), stuckTimer == nil { watchProgress() }
        if case .draining = ending, !pending.contains(.stream) { finishDraining(context) }
    }

    /// - Returns: what is left to do; of the stream, what the socket did not take, which is written when it takes more.
    private func flushStream(_ context: ChannelHandlerContext) -> PendingWork {
        var written = (bytes: 0, messages: 0)
        var spare: ByteBuffer?
        var isMoreQueued = false
        defer { writtenByteCount &+= written.bytes }
        guard outgoing == nil || !isBlocked else { return pendingWork() }
        while written.bytes < Self.turnByteCount {
            guard context.channel.isActive else { return pendingWork(isScheduled: true) }
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
                    flushLater(context)
                    return pending
                case .wait:
                    return pending
                }
            }
            if let socket {
                written.bytes += outgoing?.write { socket.write($0, $1, more: isMoreQueued) } ?? 0
            }
            if let progress = outgoing?.wholeProgress { tell(progress, .outgoing) }
            if outgoing?.isComplete == true {
                spare = outgoing?.buffer
                outgoing = nil
            } else if !handOver(context) {
                return pendingWork()
            }
        }
        context.eventLoop.assumeIsolated().execute { [self] in flush() }
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
    private func flushLater(_ context: ChannelHandlerContext) {
        let isTimed = gatheringEnd != nil
        gatheringEnd = .now() + Self.gatheringTime
        if !isTimed { flushWhenGathered(context) }
    }

    private func flushWhenGathered(_ context: ChannelHandlerContext) {
        guard let end = gatheringEnd else { return }
        context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { [self] in
            // A segment may have left meanwhile, and gathering have begun anew.
            if let end = gatheringEnd, end > .now(), let context = self.context { return flushWhenGathered(context) }
            gatheringEnd = nil
            flush()
        }
    }

    /// The socket is full, or there is none to write to directly: NIO gets a piece and says when it is written.
    ///
    /// - Returns: whether it is written already.
    private func handOver(_ context: ChannelHandlerContext) -> Bool {
        guard let piece = outgoing?.takePiece() else { return true }
        if outgoing?.isComplete == true { outgoing = nil }
        device.outbound.withLock { $0.streamFlush = .blocked }
        let byteCount = piece.readableBytes
        var hasReturned = false
        var isWritten = false
        context.writeAndFlush(wrapOutboundOut(piece)).assumeIsolated().whenSuccess { [self] in
            // The device may have another connection by now.
            guard self.context != nil else { return }
            isWritten = true
            writtenByteCount &+= byteCount
            device.outbound.withLock { $0.streamFlush.unblock() }
            if hasReturned { flush() }
        }
        hasReturned = true
        return isWritten
    }

    private func flushDatagrams() {
        guard let sink = datagramSink else { return }
        while let segment = device.outbound.withLock({ $0.nextDatagram() }) {
            switch sink.write(segment.buffer) {
            case .taken: break
            case .full:
                device.outbound.withLock { $0.returnDatagram(segment) }
                return retryDatagrams()
            case .lost(let code):
                received.datagramsDropped += 1
                let reason = String(cString: strerror(code))
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
        guard let context else { return }
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.datagramRetryTime) { [self] in
            guard self.context != nil else { return }
            device.outbound.withLock { $0.datagramFlush.unblock() }
            flush()
        }
    }

    private func wakeWaiters() {
        let waiters = device.outbound.withLock { $0.takeWaiters(device.congestion) }
        for waiter in waiters { waiter.continuation.resume() }
    }
}
