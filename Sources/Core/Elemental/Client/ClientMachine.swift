/// The life cycle of a client's device: its successive connections and the time between them. A state machine without
/// sockets and timers.
///
/// `Waiter` is a task that waits for a connection.
struct ClientMachine<Waiter: Equatable> {
    /// Identifies a connection from the first attempt to its end; never reused.
    struct ConnectionID: Hashable {
        fileprivate(set) var number = 0
    }

    enum State: Equatable {
        /// There is no connection and none is pending: before the first one, and after the device has ended.
        case idle
        /// `isReturn`: whether it replaces a connection that was lost.
        case connecting(ConnectionID, isReturn: Bool)
        case handshaking(ConnectionID, isReturn: Bool)
        case ready(ConnectionID)
        /// What is queued is sent before the connection closes.
        case draining(ConnectionID, reconnects: Bool)
        /// The connection was lost; the delay before the next attempt has not elapsed.
        case away
    }

    enum Input {
        case connect(Waiter)
        /// `closes`: whether a connection established in the meantime is closed too.
        case cancel(Waiter, closes: Bool)
        case disconnect(DisconnectReason)
        /// A better connection replaces this one, whatever the policy.
        case renew(DisconnectReason)
        case opened(ConnectionID)
        case ready(ConnectionID)
        case failed(ConnectionID, ElementalError)
        case closing(ConnectionID, DisconnectReason)
        /// `peer`: the peer's name and address, for messages. `isProven`: whether it has proven its identity.
        case ended(ConnectionID, DisconnectReason, peer: String, isProven: Bool = false)
        case timer
        /// Zeroconf reported that the service is back. `hasMoved`: whether an attempt in progress connects to an old
        /// place.
        case sighted(hasMoved: Bool)
    }

    enum Action {
        case open(ConnectionID)
        case close(ConnectionID, DisconnectReason)
        /// Drop a connection, or an attempt to establish one, at once.
        case abandon(ConnectionID)
        /// Replaces an earlier timer.
        case startTimer(Duration)
        case cancelTimer
        case startWatch
        case stopWatch
        /// Let the program set up the device, whose first connection is ready.
        case configure
        case reopen
        case emit(DeviceEvent)
        case answer([Waiter], ElementalError?)
        case end(DisconnectReason)
        case release
    }

    private(set) var state = State.idle
    private let policy: (any ReconnectionPolicy)?
    private var reconnection: Reconnection?
    private var waiters: [Waiter] = []
    private var isConfigured = false
    private var lastID = ConnectionID()

    init(_ policy: (any ReconnectionPolicy)?) { self.policy = policy }

    var isAway: Bool {
        switch state {
        case .away, .connecting(_, isReturn: true), .handshaking(_, isReturn: true): true
        case .idle, .connecting, .handshaking, .ready, .draining: false
        }
    }

    func willReconnect(after id: ConnectionID) -> Bool { state == .draining(id, reconnects: true) }

    mutating func handle(_ input: Input, at now: ContinuousClock.Instant) -> [Action] {
        switch input {
        case .connect(let waiter): return connect(waiter)
        case .cancel(let waiter, let closes): return cancel(waiter, closes: closes)
        case .disconnect(let reason): return disconnect(reason)
        case .renew(let reason):
            guard case .ready(let id) = state else { return [] }
            state = .draining(id, reconnects: true)
            return [.close(id, reason)]
        case .opened(let id):
            guard case .connecting(id, let isReturn) = state else { return [] }
            state = .handshaking(id, isReturn: isReturn)
            return []
        case .ready(let id):
            guard case .handshaking(id, _) = state else { return [] }
            return ready(id, at: now)
        case .failed(let id, let error):
            guard case .connecting(id, let isReturn) = state else { return [] }
            return isReturn ? proceed(after: error, at: now) : stop(error)
        case .closing(let id, let reason):
            if state == .ready(id) {
                state = .draining(id, reconnects: policy != nil && reason.allowsReconnection)
            }
            return []
        case .ended(let id, let reason, let peer, let isProven):
            return ended(id, reason, (peer, isProven), at: now)
        case .timer:
            guard state == .away else { return [] }
            return perform(reconnection?.begin())
        case .sighted(let hasMoved):
            return isAway ? perform(reconnection?.hurry(hasMoved: hasMoved)) : []
        }
    }
}

extension ClientMachine {
    private mutating func connect(_ waiter: Waiter) -> [Action] {
        if case .ready = state { return [.answer([waiter], nil)] }
        waiters.append(waiter)
        switch state {
        case .idle: return open(isReturn: false)
        case .away, .connecting(_, isReturn: true), .handshaking(_, isReturn: true):
            return perform(reconnection?.hurry(hasMoved: false))
        // A connection that is closing ends soon, which resumes the waiter.
        case .connecting, .handshaking, .ready, .draining: return []
        }
    }

    private mutating func cancel(_ waiter: Waiter, closes: Bool) -> [Action] {
        var actions: [Action] = []
        if let position = waiters.firstIndex(of: waiter) {
            actions.append(.answer([waiters.remove(at: position)], .connectingCancelled))
        } else if !closes {
            return []
        }
        let isUnwanted: Bool
        switch state {
        case .connecting(_, isReturn: false), .handshaking(_, isReturn: false): isUnwanted = waiters.isEmpty
        default: isUnwanted = false
        }
        if closes || isUnwanted { actions += disconnect(DisconnectReason(.cancelled, isExpected: true)) }
        return actions
    }

    private mutating func disconnect(_ reason: DisconnectReason) -> [Action] {
        switch state {
        case .idle:
            return []
        case .connecting(let id, isReturn: false), .handshaking(let id, isReturn: false):
            return stop(.connectingCancelled, abandoning: id)
        case .ready(let id), .draining(let id, _):
            state = .draining(id, reconnects: false)
            return [.close(id, reason)]
        case .connecting(let id, isReturn: true), .handshaking(let id, isReturn: true):
            return end(reason, abandoning: id)
        case .away:
            return end(reason)
        }
    }
}

extension ClientMachine {
    private mutating func open(isReturn: Bool) -> [Action] {
        lastID.number += 1
        state = .connecting(lastID, isReturn: isReturn)
        return [.open(lastID)]
    }

    private mutating func ready(_ id: ConnectionID, at now: ContinuousClock.Instant) -> [Action] {
        state = .ready(id)
        var actions: [Action] = []
        if isConfigured {
            reconnection?.succeed(at: now)
            actions = [.cancelTimer, .stopWatch, .reopen, .emit(.didReconnect)]
        } else {
            isConfigured = true
            actions = [.configure]
        }
        return actions + answer(nil)
    }

    private mutating func ended(
        _ id: ConnectionID, _ reason: DisconnectReason, _ peer: ElementalError.Peer, at now: ContinuousClock.Instant
    ) -> [Action] {
        switch state {
        case .connecting(id, isReturn: false), .handshaking(id, isReturn: false):
            return stop(.noDevice(reason, peer))
        case .connecting(id, isReturn: true), .handshaking(id, isReturn: true):
            return reason.allowsReconnection ? proceed(after: .noDevice(reason, peer), at: now) : end(reason)
        case .ready(id):
            _ = handle(.closing(id, reason), at: now)
            return ended(id, reason, peer, at: now)
        case .draining(id, let reconnects):
            return reconnects ? lost(reason, peer, at: now) : end(reason)
        default:
            // The connection was abandoned before.
            return []
        }
    }

    private mutating func lost(
        _ reason: DisconnectReason, _ peer: ElementalError.Peer, at now: ContinuousClock.Instant
    ) -> [Action] {
        let isRenewed = reason.kind == .pairingChanged
        guard let policy = policy ?? (isRenewed ? ListedDelays([.zero]) : nil) else { return end(reason) }
        if !isRenewed, reconnection?.isSettled(at: now) == false {
            return [.startWatch] + proceed(after: .lostAgain(reason, peer), at: now)
        }
        reconnection = Reconnection(policy, after: reason, at: now)
        return [.startWatch] + proceed(after: nil, at: now)
    }

    /// - Parameter error: why the previous attempt failed; `nil` for the first.
    private mutating func proceed(after error: ElementalError?, at now: ContinuousClock.Instant) -> [Action] {
        state = .away
        let action = reconnection?.proceed(after: error, at: now)
        // A deliberate loss does not explain the end.
        if case .giveUp = action, let error, reconnection?.reason.kind == .pairingChanged {
            return end(DisconnectReason(.networkError(error.message), isExpected: false))
        }
        return perform(action)
    }

    private mutating func perform(_ action: Reconnection.Action?) -> [Action] {
        switch action {
        case nil:
            return []
        case .wait(let attempt, let delay):
            return [.emit(.willReconnect(attempt, delay: delay)), .startTimer(delay)]
        case .attempt:
            var actions: [Action] = [.cancelTimer]
            switch state {
            case .connecting(let id, _), .handshaking(let id, _): actions.append(.abandon(id))
            case .idle, .ready, .draining, .away: break
            }
            return actions + open(isReturn: true)
        case .giveUp:
            return reconnection.map { end($0.reason) } ?? []
        }
    }
}

extension ClientMachine {
    private mutating func end(_ reason: DisconnectReason, abandoning id: ConnectionID? = nil) -> [Action] {
        stop(ElementalError(.notConnected, "the connection has ended: \(reason)"), ending: reason, abandoning: id)
    }

    /// - Parameter reason: why the device has ended; `nil` if it was never connected, or had ended before.
    private mutating func stop(
        _ error: ElementalError, ending reason: DisconnectReason? = nil, abandoning id: ConnectionID? = nil
    ) -> [Action] {
        state = .idle
        reconnection = nil
        var actions: [Action] = [.cancelTimer, .stopWatch]
        if let id { actions.append(.abandon(id)) }
        actions += answer(error)
        if let reason { actions.append(.end(reason)) }
        return actions + [.release]
    }

    private mutating func answer(_ error: ElementalError?) -> [Action] {
        guard !waiters.isEmpty else { return [] }
        defer { waiters = [] }
        return [.answer(waiters, error)]
    }
}
