import NIOCore

/// A connection as its device sees it on the event loop.
protocol ConnectionHandler: AnyObject {
    /// Whether a batch of reads is under way, at whose end everything queued is written.
    var isReading: Bool { get }
    /// Writes what is queued.
    func flush()
    /// Goes on reading after a pause.
    func resumeReading()
    /// Ends the connection in order.
    ///
    /// - Parameter shutdownText: what a service tells its client before it closes.
    func close(_ reason: DisconnectReason, shutdownText: String?)
}

/// What a device keeps of its connection to reach it from any thread.
final class Connection: Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<any ConnectionHandler>
    // Made once, so that scheduling a flush allocates nothing.
    private let flush: @Sendable () -> Void

    /// On the event loop.
    init(channel: any Channel, handler: any ConnectionHandler) {
        self.channel = channel
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.handler = bound
        flush = { bound.value.flush() }
    }

    /// Sees to it that what was queued leaves soon: at the end of the read under way on this loop, or else in the
    /// loop's next turn.
    func wake() {
        if channel.eventLoop.inEventLoop, handler.value.isReading { return }
        channel.eventLoop.execute(flush)
    }

    /// Goes on reading after a pause.
    func resumeReading() {
        channel.eventLoop.execute { [handler] in handler.value.resumeReading() }
    }

    /// Ends the connection in order.
    func close(_ reason: DisconnectReason, shutdownText: String?) {
        channel.eventLoop.execute { [handler] in handler.value.close(reason, shutdownText: shutdownText) }
    }
}
