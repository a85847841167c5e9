import NIOCore

/// Where a session's datagrams go: a service's one UDP channel with the client's address, or a client's own channel.
struct DatagramSink {
    let channel: any Channel
    /// `nil` on a connected channel.
    let remote: SocketAddress?

    /// Hands a datagram to the channel; the future fails if the system does not take it.
    func write(_ datagram: ByteBuffer) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        if let remote {
            channel.write(AddressedEnvelope(remoteAddress: remote, data: datagram), promise: promise)
        } else {
            channel.write(datagram, promise: promise)
        }
        return promise.futureResult
    }
}
