import ElementalWire
import NIOCore
import NIOPosix
import Support

/// A UDP channel's socket: a service's one, or a client's own.
///
/// Datagrams are written to the socket directly. NIO closes a channel when a write fails because the network is
/// temporarily down, and with it the UDP of all of a service's devices; a datagram that cannot be sent is just lost.
final class DatagramSocket: Sendable {
    enum Outcome {
        case taken
        /// The system has no room for it now, or the socket is closed.
        case full
        case lost(String)
    }

    let channel: any Channel
    /// `nil` if the channel is not a socket.
    private let descriptor: CInt?
    /// The socket for threads other than the event loop's.
    private let direct = DirectSocket()

    convenience init(_ channel: any Channel) {
        self.init(channel, descriptor: channel.pipeline.descriptor)
    }

    init(_ channel: any Channel, descriptor: CInt?) {
        self.channel = channel
        self.descriptor = descriptor
        channel.closeFuture.whenComplete { [self] _ in direct.close() }
    }

    /// Releases the port as soon as no thread writes to the socket.
    @discardableResult
    func close() -> EventLoopFuture<Void> {
        direct.close()
        channel.close(promise: nil)
        return channel.closeFuture
    }

    /// - Parameter remote: `nil` on a connected channel.
    func write(_ bytes: UnsafeRawBufferPointer, to remote: SocketAddress?) -> Outcome {
        // A closed descriptor may have been reused for another socket.
        guard channel.isActive else { return .lost(String(systemError: EBADF)) }
        guard let descriptor else {
            let datagram = ByteBuffer(bytes: bytes)
            if let remote {
                channel.writeAndFlush(AddressedEnvelope(remoteAddress: remote, data: datagram), promise: nil)
            } else {
                channel.writeAndFlush(datagram, promise: nil)
            }
            return .taken
        }
        return Self.send(bytes, descriptor, to: remote)
    }

    /// Whether other threads may write to the socket. The first call requests that it is opened for them.
    func isOpenForThreads() -> Bool {
        direct.isOpen { channel.eventLoop.execute { [self] in direct.open(channel.isActive ? descriptor : nil) } }
    }

    func writeDirectly(_ bytes: UnsafeRawBufferPointer, to remote: SocketAddress?) -> Outcome {
        direct.withDescriptor { Self.send(bytes, $0, to: remote) } ?? .full
    }

    private static func send(
        _ bytes: UnsafeRawBufferPointer, _ descriptor: CInt, to remote: SocketAddress?
    ) -> Outcome {
        var hasFailedBefore = false
        while true {
            let count =
                remote?.withSockAddr {
                    sendto(descriptor, bytes.baseAddress, bytes.count, flags, $0, socklen_t($1))
                } ?? sendto(descriptor, bytes.baseAddress, bytes.count, flags, nil, 0)
            if count >= 0 { return .taken }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return .full
            // The error belongs to an earlier datagram; this one may still be sent.
            case ECONNREFUSED where !hasFailedBefore: hasFailedBefore = true
            default: return .lost(String(systemError: errno))
            }
        }
    }

    #if canImport(Darwin)
    private static let flags: CInt = 0
    #else
    private static let flags = CInt(MSG_NOSIGNAL)
    #endif
}

/// Where a session's datagrams are sent: a service's one UDP socket with the client's address, or a client's own.
final class DatagramSink: Sendable {
    let socket: DatagramSocket
    let remote: SocketAddress?

    init(_ socket: DatagramSocket, to remote: SocketAddress?) {
        self.socket = socket
        self.remote = remote
    }
}

extension DatagramBootstrap {
    static func elemental(on eventLoop: any EventLoop) -> DatagramBootstrap {
        DatagramBootstrap(group: eventLoop)
            // NIO's default of 2,048 bytes would silently truncate longer datagrams.
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: receiveByteCount))
            // Further datagrams are read in the loop's next turn. Otherwise NIO would try again after every read.
            .channelOption(.maxMessagesPerRead, value: 1)
            // Buffers a burst of motion while the loop is busy. The system may grant less.
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
    }

    private static var receiveByteCount: Int { 1 << 16 }
}
