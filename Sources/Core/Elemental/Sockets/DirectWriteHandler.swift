import NIOCore

/// Writes encrypted bytes to the socket directly, as a plain connection's session does, and leaves to NIO the bytes
/// that the socket does not accept. It is below TLS in a connection's channel. NIO's own way costs more than half of a
/// small write.
final class DirectWriteHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var isMoreComing = false
    /// `nil` before the first write to an active channel, and if the channel is not a socket.
    private var socket: StreamSocket?
    private var waiting: (bytes: ByteBuffer, promise: EventLoopPromise<Void>?)?
    /// How many writes NIO has not carried out: they go first.
    private var passedCount = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data)
        if passedCount == 0, waiting == nil, bytes.readableBytes > 0 {
            waiting = (bytes, promise)
        } else {
            passWaiting(context)
            pass(bytes, promise, context)
        }
    }

    func flush(context: ChannelHandlerContext) {
        if passedCount == 0, context.channel.isActive, let (bytes, promise) = waiting {
            waiting = nil
            if socket == nil { socket = StreamSocket(context.pipeline) }
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            let count = socket.map { socket in
                bytes.withUnsafeReadableBytes { socket.write($0, none, more: isMoreComing) }
            }
            var rest = bytes
            rest.moveReaderIndex(forwardBy: count ?? 0)
            guard rest.readableBytes > 0 else {
                promise?.succeed()
                return
            }
            pass(rest, promise, context)
        } else {
            passWaiting(context)
        }
        context.flush()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        waiting?.promise?.fail(ChannelError.ioOnClosedChannel)
        waiting = nil
    }

    private func passWaiting(_ context: ChannelHandlerContext) {
        guard let (bytes, promise) = waiting.take() else { return }
        pass(bytes, promise, context)
    }

    private func pass(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        passedCount += 1
        let written = context.write(wrapOutboundOut(bytes)).assumeIsolated()
        written.whenComplete { [self] _ in passedCount -= 1 }
        if let promise { written.nonisolated().cascade(to: promise) }
    }
}
