import NIOCore

/// Where a connection's bytes go to and come from, on its event loop. It is the one place that knows how they are written;
/// what comes is read through the channel's pipeline, whose last handler is the session.
final class ByteChannel {
    /// What is between the bytes and the network.
    enum Kind {
        /// Nothing: they are written to the socket directly where the channel has one.
        case plain
        /// Handlers below the session in the channel's pipeline that change them, such as one that encrypts: they are
        /// written through the pipeline.
        case pipeline
    }

    private let kind: Kind
    /// `nil` before the session joins the channel and after it has left.
    private var context: ChannelHandlerContext?
    /// `nil` where the channel is no socket, and before it is connected.
    private var socket: StreamSocket?
    /// The other end's address.
    private(set) var remoteAddress: SocketAddress?

    init(_ kind: Kind = .plain) { self.kind = kind }

    func attach(_ context: ChannelHandlerContext) { self.context = context }

    func detach() { context = nil }

    /// The channel is connected.
    func start() {
        guard let context else { return }
        remoteAddress = context.remoteAddress
        socket = StreamSocket(context.pipeline)
    }

    /// `nil` before the session joins the channel and after it has left.
    var channel: (any Channel)? { context?.channel }

    var isActive: Bool { context?.channel.isActive == true }

    /// `nil` where the channel is no socket.
    var descriptor: CInt? { socket?.descriptor }

    /// Asks for the next read.
    func read() { context?.read() }

    /// Writes two stretches of bytes, one behind the other, to an active channel that has nothing left of what was handed
    /// over.
    ///
    /// - Parameter more: whether another write follows at once.
    /// - Returns: how many bytes were taken. The rest has to be handed over.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, more: Bool) -> Int {
        guard kind == .plain, let socket else { return 0 }
        return socket.write(first, second, more: more)
    }

    /// Hands over bytes that were not taken. Nothing else may be written before they are.
    func handOver(_ bytes: ByteBuffer, whenWritten: @escaping () -> Void) {
        context?.writeAndFlush(NIOAny(bytes)).assumeIsolated().whenSuccess(whenWritten)
    }

    /// Bytes that were written and that the other end's system has not acknowledged; 0 if that is not known.
    var unacknowledgedByteCount: Int {
        guard let socket, isActive else { return 0 }
        return socket.unacknowledgedByteCount
    }

    /// Closes our side behind the last write.
    func closeOutput() {
        context?.writeAndFlush(NIOAny(ByteBuffer())).assumeIsolated().whenComplete { [self] _ in
            context?.close(mode: .output, promise: nil)
        }
    }

    /// Closes both sides.
    func close() { context?.close(promise: nil) }
}
