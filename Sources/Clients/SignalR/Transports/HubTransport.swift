import NIOCore

/// Carries bytes to and from a hub. On its event loop only.
///
/// Messages have their own frames, so a transport may cut and join the bytes as it likes.
protocol HubTransport: AnyObject {
    var kind: TransportKind { get }
    /// Whether what was sent lately has left; what is sent nevertheless is queued.
    var isWritable: Bool { get }
    /// Whether the server has said that it takes the transport, once that counts as open.
    var isAccepted: Bool { get }
    /// Whether it takes what the server sends. While it does not, the server's own system makes the server wait.
    var isReading: Bool { get set }

    /// Sends bytes; all that is sent within one turn of the event loop leaves together.
    func send(_ bytes: ByteBuffer)

    /// Says goodbye and ends; succeeds when all is closed, which may take the peer's answer.
    func close() -> EventLoopFuture<Void>

    /// Ends at once.
    func abort()
}

/// What a transport tells its owner, on the event loop. Nothing is told after `closed`.
struct TransportEvents {
    let received: (ByteBuffer) -> Void
    /// With no error if the server ended the connection in good order.
    let closed: (SignalRError?) -> Void
    let becameWritable: () -> Void
}
