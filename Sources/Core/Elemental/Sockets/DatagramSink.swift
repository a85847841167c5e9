import NIOCore
import Support

/// Where a session's datagrams are sent: a service's one UDP channel with the client's address, or a client's own
/// channel.
///
/// They are written to the socket directly. NIO closes a channel when a write fails because the network is temporarily
/// down, and with it the UDP of all of a service's devices; a datagram that cannot be sent is just lost.
struct DatagramSink {
    enum Outcome {
        case taken
        /// The system has no room for it now.
        case full
        /// The system refused it, with this error code.
        case lost(CInt)
    }

    let channel: any Channel
    /// `nil` on a connected channel.
    private let remote: SocketAddress?
    /// `nil` if the channel is not a socket.
    private let descriptor: CInt?

    init(_ channel: any Channel, to remote: SocketAddress?) {
        let descriptor = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        self.init(channel, to: remote, descriptor: descriptor.flatMap { $0 })
    }

    init(_ channel: any Channel, to remote: SocketAddress?, descriptor: CInt?) {
        self.channel = channel
        self.remote = remote
        self.descriptor = descriptor
    }

    /// Sends a datagram. On the channel's event loop.
    func write(_ datagram: ByteBuffer) -> Outcome {
        datagram.withUnsafeReadableBytes { write($0, datagram) }
    }

    /// Sends a datagram. On the channel's event loop.
    func write(_ datagram: UnsafeRawBufferPointer) -> Outcome { write(datagram, nil) }

    /// - Parameter buffer: the same bytes, if they are in a buffer.
    private func write(_ bytes: UnsafeRawBufferPointer, _ buffer: ByteBuffer?) -> Outcome {
        // A closed descriptor may have been reused for another socket.
        guard channel.isActive else { return .lost(EBADF) }
        guard let descriptor else {
            let datagram = buffer ?? ByteBuffer(bytes: bytes)
            if let remote {
                channel.writeAndFlush(AddressedEnvelope(remoteAddress: remote, data: datagram), promise: nil)
            } else {
                channel.writeAndFlush(datagram, promise: nil)
            }
            return .taken
        }
        guard let remote else { return Self.send(bytes, descriptor, nil, 0) }
        return remote.withSockAddr { Self.send(bytes, descriptor, $0, socklen_t($1)) }
    }

    private static func send(
        _ bytes: UnsafeRawBufferPointer, _ descriptor: CInt, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t
    ) -> Outcome {
        var hasFailedBefore = false
        while true {
            if sendto(descriptor, bytes.baseAddress, bytes.count, flags, address, length) >= 0 { return .taken }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return .full
            // The system reports the fate of an earlier datagram; this one may still be sent.
            case ECONNREFUSED where !hasFailedBefore: hasFailedBefore = true
            default: return .lost(errno)
            }
        }
    }

    #if canImport(Darwin)
    private static let flags: CInt = 0
    #else
    private static let flags = CInt(MSG_NOSIGNAL)
    #endif
}
