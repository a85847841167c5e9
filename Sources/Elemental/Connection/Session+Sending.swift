import ElementalWire
import NIOCore

extension Session {
    /// Bytes written in one turn of the loop before other connections get theirs.
    private static let turnByteCount = 1024 * 1024

    /// Writes what is queued, as much as the socket takes.
    func flush() {
        guard let context else { return }
        let isBlocked = flushStream(context)
        flushDatagrams()
        wakeWaiters()
        if case .draining = ending, !isBlocked { finishDraining(context) }
    }

    /// - Returns: whether something is left because the socket is full; it is written when the socket takes more.
    private func flushStream(_ context: ChannelHandlerContext) -> Bool {
        var written = 0
        while true {
            var hasWritten = false
            while context.channel.isWritable {
                let segment = device.outbound.withLock { outbound in
                    // From here on a send asks for another flush.
                    outbound.isStreamFlushScheduled = false
                    return outbound.stream.takeSegment()
                }
                guard let segment else { break }
                context.write(wrapOutboundOut(segment.buffer), promise: nil)
                written += segment.buffer.readableBytes
                hasWritten = true
                if written >= Self.turnByteCount { break }
            }
            guard hasWritten else { break }
            context.flush()
            if written >= Self.turnByteCount {
                device.outbound.withLock { $0.isStreamFlushScheduled = true }
                context.eventLoop.assumeIsolated().execute { [self] in flush() }
                return true
            }
        }
        // Blocked by the socket, every send would wake the loop for nothing: the socket itself will.
        guard !context.channel.isWritable else { return false }
        return device.outbound.withLock { outbound in
            outbound.isStreamFlushScheduled = !outbound.stream.isEmpty
            return !outbound.stream.isEmpty
        }
    }

    private func flushDatagrams() {
        guard let sink = datagramSink else { return }
        var hasWritten = false
        while sink.channel.isWritable {
            let segment = device.outbound.withLock { outbound in
                outbound.isDatagramFlushScheduled = false
                return outbound.datagrams.takeSegment()
            }
            guard let segment else { break }
            let count = segment.messageCount
            sink.write(segment.buffer).assumeIsolated().whenFailure { [self] _ in
                received.datagramsDropped += 1
                logger.debug("datagram not sent", metadata: ["device": "\(device.name)", "messages": "\(count)"])
            }
            hasWritten = true
        }
        if hasWritten { sink.channel.flush() }
    }

    private func wakeWaiters() {
        let waiters = device.outbound.withLock { outbound -> [CheckedContinuation<Void, any Error>] in
            guard !outbound.waiters.isEmpty, outbound.hasPlenty else { return [] }
            defer { outbound.waiters.removeAll() }
            return Array(outbound.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }
}
