import NIOCore
import NIOSSL
import Support

/// Reads and writes a connection's bytes, on its event loop. Only this type knows how they are written; incoming bytes
/// are read through the channel's pipeline, whose last handler is the session.
final class ByteChannel {
    /// The buffer of a read from the socket: small on a quiet connection, and on a busy one large enough that most long
    /// values lie completely within it.
    static let receiveAllocator = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 256 * 1024)

    /// Whether the bytes are written to the socket as they are. If not, handlers below the session encrypt them.
    let isPlain: Bool
    /// `nil` before the session is added to the channel and after it was removed.
    private var context: ChannelHandlerContext?
    /// The context's channel, stored because the context takes longer to find it.
    private(set) var channel: (any Channel)?
    /// `nil` if the channel is not a socket, and before it is connected.
    private var socket: StreamSocket?
    /// `nil` on a plain connection, and before the channel is connected.
    private var encryptedWriter: DirectWriteHandler?
    private(set) var remoteAddress: SocketAddress?

    init(isPlain: Bool = true) { self.isPlain = isPlain }

    func attach(_ context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
    }

    func detach() {
        context = nil
        channel = nil
        encryptedWriter = nil
    }

    func start() {
        guard let context else { return }
        remoteAddress = context.remoteAddress
        socket = StreamSocket(context.pipeline)
        if isPlain { return }
        encryptedWriter = try? context.pipeline.syncOperations.handler(type: DirectWriteHandler.self)
    }

    var isActive: Bool { channel?.isActive == true }

    var descriptor: CInt? { socket?.descriptor }

    func read() { context?.read() }

    /// Writes two byte ranges, one after the other. All bytes that were handed over must be written before.
    ///
    /// - Parameter more: whether another write follows immediately.
    /// - Returns: how many bytes were accepted. The rest has to be handed over.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, more: Bool) -> Int {
        guard isPlain, let socket else { return 0 }
        return socket.write(first, second, more: more)
    }

    /// The socket to which bytes are written as they are; `nil` if there is none, or the channel is not active.
    var plainSocket: StreamSocket? { isPlain && isActive ? socket : nil }

    /// The channel has less to write than its high watermark.
    var hasPipelineRoom: Bool { !isPlain && channel?.isWritable == true }

    /// Writes bytes through a pipeline that has room. A promise and its callbacks would cost more than a small value.
    func pass(_ bytes: ByteBuffer, more: Bool) {
        encryptedWriter?.isMoreComing = more
        context?.writeAndFlush(NIOAny(bytes), promise: nil)
        encryptedWriter?.isMoreComing = false
    }

    /// Hands over bytes that were not accepted. Nothing else may be written before they are.
    func handOver(_ bytes: ByteBuffer, whenWritten: @escaping () -> Void) {
        context?.writeAndFlush(NIOAny(bytes)).assumeIsolated().whenSuccess(whenWritten)
    }

    var unacknowledgedByteCount: Int {
        guard let socket, isActive else { return 0 }
        return socket.unacknowledgedByteCount
    }

    /// Whether an error only means that the peer has closed the connection, after which the channel becomes inactive.
    ///
    /// Over TLS this is a close without `close_notify`, because the peer's process died. It may count as a normal end:
    /// an attacker who can forge the end of a TCP connection can end it either way, the bytes received before are
    /// authenticated, and every frame announces its length.
    func isEnd(_ error: any Error) -> Bool {
        if case NIOSSLError.uncleanShutdown? = error as? NIOSSLError { !isPlain } else { false }
    }

    /// The reason for a broken connection, for the user. The TLS library's own texts name places in its source, so they
    /// are replaced.
    static func reason(_ error: any Error) -> String {
        guard error is NIOSSLError || error is BoringSSLError else { return NetworkFailure(error).reason }
        return "the received bytes cannot be decrypted: they were changed on the way, or the peer is faulty"
    }

    func closeOutput() { context?.closeBehindWrites(mode: .output) }

    func close() { context?.close(promise: nil) }
}

/// A connection's socket, written to directly: one system call writes batched bytes and a long value, which is not
/// copied. NIO's own way needs a separate buffer for each.
///
/// Use a channel's socket on its event loop, only while the channel is active, since a closed descriptor may have been
/// reused for another connection, and only if NIO itself has nothing left to write, since that goes first.
struct StreamSocket {
    let descriptor: CInt

    init(descriptor: CInt) { self.descriptor = descriptor }

    /// `nil` if the channel is not a socket.
    init?(_ pipeline: ChannelPipeline) {
        guard let descriptor = pipeline.descriptor else { return nil }
        self.descriptor = descriptor
    }

    /// Writes two byte ranges, one after the other.
    ///
    /// - Parameter more: whether another write follows immediately. The system then holds back bytes that do not fill a
    ///   packet, for up to 0.2 s. Otherwise each write of a burst ends with a small packet of its own.
    /// - Returns: how many bytes the system accepted; 0 on an error too, which the channel encounters itself.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, more: Bool) -> Int {
        let flags = more ? Self.flags | Self.more : Self.flags
        while true {
            let count =
                second.isEmpty
                ? send(descriptor, first.baseAddress, first.count, flags) : gather(first, second, flags)
            if count >= 0 { return count }
            guard errno == EINTR else { return 0 }
        }
    }

    var unacknowledgedByteCount: Int {
        var count: CInt = 0
        #if canImport(Darwin)
        var size = socklen_t(MemoryLayout<CInt>.size)
        let result = getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size)
        #else
        let result = ioctl(descriptor, UInt(TIOCOUTQ), &count)
        #endif
        return result == 0 ? Int(count) : 0
    }

    private func gather(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ flags: CInt
    ) -> Int {
        var parts = (
            iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
        )
        return withUnsafeMutablePointer(to: &parts) { parts in
            parts.withMemoryRebound(to: iovec.self, capacity: 2) { parts in
                var message = msghdr()
                message.msg_iov = parts
                message.msg_iovlen = 2
                return sendmsg(descriptor, &message, flags)
            }
        }
    }

    #if canImport(Darwin)
    // NIO has configured the socket not to raise SIGPIPE.
    private static let flags: CInt = 0
    private static let more: CInt = 0
    #else
    private static let flags = CInt(MSG_NOSIGNAL)
    private static let more = CInt(MSG_MORE)
    #endif
}

extension ChannelPipeline {
    /// `nil` if the channel is not a socket, or closed.
    var descriptor: CInt? {
        (try? syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }).flatMap { $0 }
    }
}

extension ChannelHandlerContext {
    /// Closes the channel or this side of it when everything is written: TLS writes in order.
    func closeBehindWrites(mode: CloseMode = .all) {
        writeAndFlush(NIOAny(ByteBuffer())).assumeIsolated().whenComplete { _ in self.close(mode: mode, promise: nil) }
    }
}
