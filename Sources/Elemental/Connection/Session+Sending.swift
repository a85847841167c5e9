import ElementalWire
import NIOCore

extension Session {
    /// Bytes written in one turn of the loop before other connections get theirs.
    private static let turnByteCount = 1024 * 1024

    /// Writes what is queued, as much as the sockets take.
    func flush() {
        guard let context else { return }
        let rest = flushStream(context)
        if rest.contains(.datagrams) { flushDatagrams() }
        if rest.contains(.waiters) { wakeWaiters() }
        if case .draining = ending, !rest.contains(.stream) { finishDraining(context) }
    }

    /// - Returns: what is left to do; of the stream, what the socket did not take, which is written when it takes more.
    private func flushStream(_ context: ChannelHandlerContext) -> Outbound.Rest {
        var written = 0
        var rest: Outbound.Rest = []
        repeat {
            var unflushed = 0
            while context.channel.isWritable, written < Self.turnByteCount {
                let segment = device.outbound.withLock { outbound in
                    defer {
                        rest = outbound.rest
                        // A send that comes later asks for another flush, or is seen by this one.
                        outbound.isStreamFlushScheduled = rest.contains(.stream)
                    }
                    return outbound.stream.takeSegment()
                }
                guard let segment else { break }
                context.write(wrapOutboundOut(segment.buffer), promise: nil)
                unflushed += segment.buffer.readableBytes
                written += segment.buffer.readableBytes
                guard rest.contains(.stream) else { break }
            }
            guard unflushed > 0 else { break }
            context.flush()
        } while rest.contains(.stream) && written < Self.turnByteCount
        return settle(context, rest, written: written)
    }

    /// What remains is written in the next turn, or when the socket takes more.
    private func settle(_ context: ChannelHandlerContext, _ rest: Outbound.Rest, written: Int) -> Outbound.Rest {
        if written >= Self.turnByteCount, rest.contains(.stream) {
            context.eventLoop.assumeIsolated().execute { [self] in flush() }
            return rest
        }
        guard !context.channel.isWritable else { return rest }
        // Blocked by the socket, every send would wake the loop for nothing: the socket itself will.
        return device.outbound.withLock { outbound in
            outbound.isStreamFlushScheduled = !outbound.stream.isEmpty
            return outbound.rest
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
