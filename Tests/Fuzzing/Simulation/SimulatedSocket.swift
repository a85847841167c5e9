import NIOCore
import NIOEmbedded
import TestSupport

/// One end of a simulated TCP connection: the kernel's buffers of a socket, and NIO's of a channel.
final class SimulatedSocket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    let channel: EmbeddedChannel
    /// The bytes that the kernel buffers in each direction.
    var capacity: Int
    private var context: ChannelHandlerContext?
    /// What NIO holds because the kernel's buffer is full.
    private var pending: [(buffer: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    private var sending: [UInt8] = []
    private var received: [UInt8] = []
    private var wantsRead = false
    private var hasStarted = false
    /// Whether this end's stream ends after what is being sent.
    private var isOutputClosed = false
    /// Whether the other end's stream has ended.
    private var hasEndArrived = false
    private(set) var isClosed = false
    /// Whether the socket was closed with unread input, which resets the connection.
    private(set) var isResetting = false

    init(loop: EmbeddedEventLoop, remote: SocketAddress, capacity: Int) throws {
        channel = EmbeddedChannel(loop: loop)
        channel.remoteAddress = remote
        self.capacity = capacity
        try channel.pipeline.syncOperations.addHandler(self)
    }

    // MARK: The channel's side

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        failPending()
    }

    private func failPending() {
        let failed = pending
        pending = []
        for (_, promise) in failed { promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    func read(context: ChannelHandlerContext) { wantsRead = true }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosed, !isOutputClosed else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        pending.append((unwrapOutboundIn(data), promise))
    }

    func flush(context: ChannelHandlerContext) { takePending() }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if case .output = mode {
            isOutputClosed = true
            promise?.succeed()
            return
        }
        guard !isClosed else {
            promise?.fail(ChannelError.alreadyClosed)
            return
        }
        isClosed = true
        isResetting = !received.isEmpty
        isOutputClosed = true
        // NIO fails the writes that it has not passed to the kernel.
        failPending()
        context.close(mode: mode, promise: promise)
    }

    /// The kernel accepts as much as it has room for.
    private func takePending() {
        while !pending.isEmpty, sending.count < capacity, !isClosed {
            let count = min(capacity - sending.count, pending[0].buffer.readableBytes)
            sending += pending[0].buffer.readBytes(length: count) ?? []
            guard pending[0].buffer.readableBytes == 0 else { return }
            pending.removeFirst().promise?.succeed()
        }
    }

    // MARK: The network's side

    private var isDrained: Bool { sending.isEmpty && pending.isEmpty }

    /// Transfers some bytes, perhaps none, to the other end, and the end of the stream after the last.
    func transfer(to other: SimulatedSocket, _ random: inout SeededGenerator) {
        takePending()
        let room = min(sending.count, other.capacity - other.received.count)
        if room > 0 {
            // Usually many, sometimes a few: every split occurs.
            let count = random.once(in: 4) ? random.number(0...min(room, 9)) : random.number(0...room)
            other.received += sending.prefix(count)
            sending.removeFirst(count)
            takePending()
        }
        if isOutputClosed, isDrained { other.hasEndArrived = true }
    }

    /// Delivers some of the received bytes, if the channel has requested a read.
    func deliver(_ random: inout SeededGenerator) {
        guard !isClosed else { return }
        if !hasStarted {
            hasStarted = true
            channel.pipeline.read()
        }
        guard wantsRead else { return }
        if received.isEmpty {
            // The channel does not allow half-closure, as NIO's does not by default.
            if hasEndArrived { channel.close(promise: nil) }
            return
        }
        wantsRead = false
        let count = random.once(in: 3) ? random.number(1...min(received.count, 7)) : received.count
        let bytes = ByteBuffer(bytes: received.prefix(count))
        received.removeFirst(count)
        channel.pipeline.fireChannelRead(bytes)
        channel.pipeline.fireChannelReadComplete()
        if !isClosed { channel.pipeline.read() }
    }

    func reset() {
        guard !isClosed else { return }
        received = []
        channel.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "read"))
        channel.close(promise: nil)
    }
}
