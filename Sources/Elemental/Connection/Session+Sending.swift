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
        tellTaken()
        let rest = flushStream(context)
        if rest.contains(.datagrams) { flushDatagrams() }
        // Datagrams that left may have made room that was not there before, for someone who has come since, too.
        if rest.contains(.datagrams) || rest.contains(.room) && (rest.contains(.waiters) || device.congestion.isAny) {
            wakeWaiters()
        }
        if rest.contains(.stream), stuckTimer == nil { watchProgress() }
        if case .draining = ending, !rest.contains(.stream) { finishDraining(context) }
    }

    /// - Returns: what is left to do; of the stream, what the socket did not take, which is written when it takes more.
    private func flushStream(_ context: ChannelHandlerContext) -> Outbound.Rest {
        var written = (bytes: 0, messages: 0)
        var spare: ByteBuffer?
        var isMoreQueued = false
        defer { writtenByteCount &+= written.bytes }
        while written.bytes < Self.turnByteCount {
            guard !isHandedOver, context.channel.isActive else { return blocked() }
            if outgoing == nil {
                let (segment, rest, isGathering) = takeSegment(written: written.messages, spare: &spare)
                if isGathering { flushLater(context) }
                guard let segment else { return rest }
                written.messages += segment.messageCount
                outgoing = OutgoingSegment(segment)
                isMoreQueued = rest.contains(.segment)
            }
            if let socket { written.bytes += outgoing?.write(to: socket, more: isMoreQueued) ?? 0 }
            if let progress = outgoing?.wholeProgress { tell(progress, .outgoing) }
            if outgoing?.isComplete == true {
                spare = outgoing?.buffer
                outgoing = nil
            } else {
                handOver(context)
            }
        }
        context.eventLoop.assumeIsolated().execute { [self] in flush() }
        return blocked()
    }

    /// - Parameter spare: storage that was written and is given back.
    private func takeSegment(
        written: Int, spare: inout ByteBuffer?
    ) -> (OutboundQueue.Segment?, Outbound.Rest, isGathering: Bool) {
        device.outbound.withLock { outbound in
            if let buffer = spare.take() { outbound.stream.reuse(buffer) }
            // A send that comes later asks for another flush, or is seen by this one.
            let segment = outbound.takeSegment(written: written)
            return (segment, outbound.rest, outbound.gatheredByteCount > 0)
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

    /// A flush is sure to come: no send needs to wake the loop.
    private func blocked() -> Outbound.Rest {
        device.outbound.withLock { outbound in
            outbound.isStreamFlushScheduled = true
            return outbound.rest.union(.stream)
        }
    }

    /// The socket is full, or there is none to write to directly: NIO gets a piece and says when it is written.
    private func handOver(_ context: ChannelHandlerContext) {
        guard let piece = outgoing?.nextPiece() else { return }
        if outgoing?.isComplete == true { outgoing = nil }
        isHandedOver = true
        let byteCount = piece.readableBytes
        var hasReturned = false
        context.writeAndFlush(wrapOutboundOut(piece)).assumeIsolated().whenSuccess { [self] in
            isHandedOver = false
            writtenByteCount &+= byteCount
            if hasReturned { flush() }
        }
        hasReturned = true
    }

    private func flushDatagrams() {
        guard let sink = datagramSink, !waitsForDatagramRoom else { return }
        while let segment = device.outbound.withLock({ $0.takeDatagram() }) {
            switch sink.write(segment.buffer) {
            case .taken: break
            case .full:
                device.outbound.withLock { $0.unsentDatagram = segment }
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
        waitsForDatagramRoom = true
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.datagramRetryTime) { [self] in
            waitsForDatagramRoom = false
            flush()
        }
    }

    private func wakeWaiters() {
        let waiters = device.outbound.withLock { outbound in
            let (waiters, isCongested, isLargeCongested) = outbound.takeWaiters()
            device.congestion.set(stream: isCongested, large: isLargeCongested)
            return waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }
}
