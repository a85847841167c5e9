import NIOCore

/// Where a session's datagrams are sent: a service's one UDP socket with the client's address, or a client's own.
final class DatagramSink: Sendable {
    let socket: DatagramSocket
    /// `nil` on a connected socket.
    private let remote: SocketAddress?

    init(_ socket: DatagramSocket, to remote: SocketAddress?) {
        self.socket = socket
        self.remote = remote
    }

    /// Sends a datagram. On the socket's event loop.
    func write(_ datagram: UnsafeRawBufferPointer) -> DatagramSocket.Outcome {
        socket.write(datagram, to: remote)
    }

    /// Sends a datagram from another thread.
    func writeDirectly(_ datagram: ByteBuffer) -> DatagramSocket.Outcome {
        datagram.withUnsafeReadableBytes { socket.writeDirectly($0, to: remote) }
    }
}
