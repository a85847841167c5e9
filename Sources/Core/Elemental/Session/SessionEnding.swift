import ElementalWire

/// The state machine of a connection's end: takes events, returns actions. No sockets, no timers.
///
/// A connection ends in order: queued data is sent, then our side is closed, then the other end's close is awaited, all
/// within the timeout for closing. Closing both sides at once would lose data in flight: a system that closes a socket
/// with unread input resets the connection, and the reset overtakes the last frames.
struct SessionEnding {
    enum State {
        case none
        case draining
        /// Our side is closed; the other end's close is awaited.
        case closed
        case over
    }

    enum Event {
        /// - Parameter waits: whether to wait until the peer has read all and closed too.
        case close(DisconnectReason, shutdownText: String?, waits: Bool)
        /// A frame, an error or a timeout ends it. After a network error nothing can be sent any more.
        case fail(DisconnectReason, shutdownText: String?)
        case breakOff(DisconnectReason)
        case drained
        case timeUp
        /// The connection is gone, for this reason if there was none before.
        case gone(DisconnectReason)
    }

    enum Action {
        case stopSending(DisconnectReason)
        /// Queue a text for the client, behind everything queued.
        case sendShutdown(String)
        case startTimer
        /// Keep reading, paused or not: otherwise the other end's close goes unnoticed.
        case read
        case flush
        /// Close our side after the last write.
        case closeOutput
        case closeChannel
        /// Release everything and report the reason.
        case finish(DisconnectReason)
    }

    private(set) var state = State.none
    private(set) var reason: DisconnectReason?

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
