import NIOCore

/// What a device keeps of its connection to reach it from any thread.
final class Connection: Sendable {
    let channel: any Channel
    let session: NIOLoopBound<Session>
    // Made once, so that scheduling a flush allocates nothing.
    private let flush: @Sendable () -> Void

    init(channel: any Channel, session: Session) {
        self.channel = channel
        let bound = NIOLoopBound(session, eventLoop: channel.eventLoop)
        self.session = bound
        flush = { bound.value.flush() }
    }

    /// Sees to it that what was queued leaves soon: at the end of the read under way on this loop, or else in the
    /// loop's next turn.
    func wake() {
        if channel.eventLoop.inEventLoop, session.value.isReading { return }
        channel.eventLoop.execute(flush)
    }
}
