import NIOCore

/// A connection as its device sees it on the event loop.
protocol ConnectionHandler: AnyObject {
    /// Whether a read batch is in progress, at whose end everything queued is written.
    var isReading: Bool { get }
    /// Writes what is queued.
    func flush()
    /// Resumes reading after a pause.
    func resumeReading()
    /// Closes the connection gracefully.
    ///
    /// - Parameter shutdownText: the text that a service sends its client before it closes.
    func close(_ reason: DisconnectReason, shutdownText: String?)
}

/// A device's reference to its connection, usable from any thread.
final class Connection: Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<any ConnectionHandler>
    // Made once, so that scheduling a flush allocates nothing.
    private let flush: @Sendable () -> Void

    /// Must be called on the event loop.
    init(channel: any Channel, handler: any ConnectionHandler) {
        self.channel = channel
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.handler = bound
        flush = { bound.value.flush() }
    }

    /// Schedules a flush: at the end of the read batch in progress on this loop, or else in the loop's next tick.
    func wake() {
        if channel.eventLoop.inEventLoop, handler.value.isReading { return }
        channel.eventLoop.execute(flush)
    }

    /// Resumes reading after a pause.
    func resumeReading() {
        channel.eventLoop.execute { [handler] in handler.value.resumeReading() }
    }

    /// Closes the connection gracefully.
    func close(_ reason: DisconnectReason, shutdownText: String?) {
        channel.eventLoop.execute { [handler] in handler.value.close(reason, shutdownText: shutdownText) }
    }
}
