/// The end of a connection: takes what happens, answers what to do. No sockets, no timers.
///
/// A connection ends in order: what is queued is sent, then our side is closed, then the other end's close is awaited, all
/// within the limit for closing. Closing both sides at once would lose what is on its way: a system that closes a socket
/// with unread input resets the connection, and the reset overtakes the last frames.
struct SessionEnding {
    enum State {
        /// It has not begun.
        case none
        /// What is queued is still being sent.
        case draining
        /// Our side is closed; the other end's close is awaited.
        case closed
        /// The connection is gone.
        case over
    }

    enum Event {
        /// One of the ends wants it.
        ///
        /// - Parameters:
        ///   - shutdownText: what a service tells its client behind everything else.
        ///   - waits: whether the other end has time to read that and to close too.
        case close(DisconnectReason, shutdownText: String?, waits: Bool)
        /// Something came, or failed to come, that ends it. After an error of the network nothing can be sent any more.
        case fail(DisconnectReason, shutdownText: String?)
        /// Nothing can be sent any more.
        case breakOff(DisconnectReason)
        /// Nothing is left to send.
        case drained
        /// The limit for closing is over.
        case timeUp
        /// The connection is gone, for this reason if there was none before.
        case gone(DisconnectReason)
    }

    enum Action {
        /// Take no more values to send, and stop the watches.
        case stopSending(DisconnectReason)
        /// Queue a text for the client, behind what waits.
        case sendShutdown(String)
        /// Come back with ``Event/timeUp`` after the limit for closing.
        case startTimer
        /// Read on, paused or not: otherwise nobody notices that the other end has closed.
        case read
        case flush
        /// Close our side behind the last write.
        case closeOutput
        /// Close the channel as it is.
        case closeChannel
        /// Let go of everything and tell why it ended.
        case finish(DisconnectReason)
    }

    private(set) var state = State.none
    /// Why it ends.
    private(set) var reason: DisconnectReason?

    /// Whether it has not begun.
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
