import NIOCore
import Support

/// A connection's socket, written to directly: one system call for batched bytes, and a long value is sent from where
/// the program has it. NIO's own way needs a separate buffer for each.
///
/// Use a channel's on its event loop, only while the channel is active, since a closed descriptor may have been reused
/// for another connection, and only if NIO itself has nothing left to write, since that goes first.
struct StreamSocket {
    let descriptor: CInt

    init(descriptor: CInt) { self.descriptor = descriptor }

    /// `nil` if the channel is not a socket.
    init?(_ pipeline: ChannelPipeline) {
        // A closed channel throws.
        let descriptor = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        guard let descriptor = descriptor.flatMap({ $0 }) else { return nil }
        self.descriptor = descriptor
    }

    /// Writes two byte ranges, one after the other.
    ///
    /// - Parameter more: whether another write follows immediately. The system then holds back what does not fill a
    ///   packet, up to 0.2 s: without it, each write of a burst ends with a small packet of its own.
    /// - Returns: how many bytes the system accepted. None on an error either: the channel will encounter it.
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

    /// Bytes that the system accepted and the other end's system has not acknowledged; 0 if unknown.
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
