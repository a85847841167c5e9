import NIOCore

/// Transports bytes to and from a hub. Used on its event loop only.
///
/// Messages have their own framing, so a transport may split and join bytes arbitrarily.
protocol HubTransport: AnyObject {
    /// Whether the queue is below its high watermark. Above it, bytes can still be sent and are queued.
    var isWritable: Bool { get }
    /// Whether the server has confirmed the transport; long polling counts as open before that.
    var isAccepted: Bool { get }
    /// Whether it reads from the server. While it does not, TCP's flow control makes the server wait.
    var isReading: Bool { get set }

    /// Sends bytes. Everything sent within one turn of the event loop is written together.
    func send(_ bytes: ByteBuffer)

    /// Closes the transport in an orderly way; succeeds when it is closed, which may take the peer's answer.
    func close() -> EventLoopFuture<Void>

    func abort()
}

/// The events that a transport reports to its owner, on the event loop. No event follows `closed`.
struct TransportEvents {
    let received: (ByteBuffer) -> Void
    /// Without an error if the server closed the connection in an orderly way.
    let closed: (SignalRError?) -> Void
    let becameWritable: () -> Void
}
