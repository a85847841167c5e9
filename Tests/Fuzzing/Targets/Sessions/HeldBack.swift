import NIOCore

/// A socket that takes nothing while it is held back, as that of a peer that does not read.
final class HeldBack: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private var context: ChannelHandlerContext?
    private var waiting: [(NIOAny, EventLoopPromise<Void>?)] = []
    private var isHeldBack = false

    /// Messages in one direction wait here; a session hands over one piece at a time.
    var count: Int { waiting.count }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for (_, promise) in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
        waiting = []
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isHeldBack { waiting.append((data, promise)) } else { context.write(data, promise: promise) }
    }

    func toggle() {
        isHeldBack.toggle()
        guard !isHeldBack, let context else { return }
        let written = waiting
        waiting = []
        for (data, promise) in written { context.write(data, promise: promise) }
        context.flush()
    }

    func release() { if isHeldBack { toggle() } }
}
