import ElementalWire

/// The state machine of a connection's end: takes events, returns actions. No sockets, no timers.
///
/// A connection ends in order: queued data is sent, then our side is closed, then the other end's close is awaited, all
/// within the timeout for closing. Closing both sides at once would lose data in flight: a system that closes a socket
/// with unread input resets the connection, and the reset overtakes the last frames.
struct SessionEnding {
    enum State {
        /// Not begun.
        case none
        /// Queued data is still being sent.
        case draining
        /// Our side is closed; the other end's close is awaited.
        case closed
        /// The connection is gone.
        case over
    }

    enum Event {
        /// The connection is to be closed in order.
        ///
        /// - Parameters:
        ///   - shutdownText: the text that a service sends its client after everything else.
        ///   - waits: whether to wait until the other end has read that and closed too.
        case close(DisconnectReason, shutdownText: String?, waits: Bool)
        /// A frame, an error or a timeout ends it. After a network error nothing can be sent any more.
        case fail(DisconnectReason, shutdownText: String?)
        /// Nothing can be sent any more.
        case breakOff(DisconnectReason)
        /// Nothing is left to send.
        case drained
        /// The timeout for closing has elapsed.
        case timeUp
        /// The connection is gone, for this reason if there was none before.
        case gone(DisconnectReason)
    }

    enum Action {
        /// Accept no more values to send, and stop the watchdog.
        case stopSending(DisconnectReason)
        /// Queue a text for the client, behind everything queued.
        case sendShutdown(String)
        /// Send ``Event/timeUp`` after the timeout for closing.
        case startTimer
        /// Keep reading, paused or not: otherwise the other end's close goes unnoticed.
        case read
        case flush
        /// Close our side after the last write.
        case closeOutput
        /// Close the channel immediately.
        case closeChannel
        /// Release everything and report why it ended.
        case finish(DisconnectReason)
    }

    private(set) var state = State.none
    /// Why it ends.
    private(set) var reason: DisconnectReason?

    /// Whether the end has not begun.
    var isOpen: Bool { state == .none }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .close(let reason, let text, let waits):
            guard state == .none else { return [] }
            state = .draining
            self.reason = reason
            var actions: [Action] = [.stopSending(reason)]
            if let text, !text.isEmpty { actions.append(.sendShutdown(text)) }
            return actions + [.startTimer, .read, .flush] + (waits ? [] : [.closeChannel])
        case .fail(let reason, let text):
            if case .networkError = reason.kind { return handle(.breakOff(reason)) }
            return handle(.close(reason, shutdownText: text, waits: true))
        case .breakOff(let reason):
            guard state != .over else { return [] }
            if state == .none {
                state = .closed
                self.reason = reason
            }
            return [.closeChannel]
        case .drained:
            guard state == .draining else { return [] }
            state = .closed
            return [.closeOutput]
        case .timeUp:
            return state == .over ? [] : [.closeChannel]
        case .gone(let fallback):
            guard state != .over else { return [] }
            state = .over
            let reason = reason ?? fallback
            self.reason = reason
            return [.finish(reason)]
        }
    }
}
