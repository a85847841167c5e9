/// The life cycle of a client's device: its successive connections and the time between them. A state machine without
/// sockets and timers.
struct ClientMachine<Waiter: Equatable> {
    /// Never reused.
    struct ConnectionID: Hashable {
        fileprivate(set) var number = 0
    }

    enum State: Equatable {
        /// There is no connection and none is pending: before the first one, and after the device has ended.
        case idle
        /// `isReturn`: whether it replaces a connection that was lost.
        case connecting(ConnectionID, isReturn: Bool)
        case ready(ConnectionID)
        /// Queued values are still sent.
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
        case ready(ConnectionID)
        case failed(ConnectionID, ElementalError)
        case closing(ConnectionID, DisconnectReason)
        /// `peer`: for messages.
        case ended(ConnectionID, DisconnectReason, peer: String, isProven: Bool = false)
        case timer
        /// `hasMoved`: whether an attempt in progress connects to an outdated place.
        case sighted(hasMoved: Bool)
    }

    enum Action {
        case open(ConnectionID)
        case close(ConnectionID, DisconnectReason)
        /// Drop a connection, or an attempt to establish one, at once.
        case abandon(ConnectionID)
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
    private var recovery: Recovery?
    private var waiters: [Waiter] = []
    private var isConfigured = false
    private var lastID = ConnectionID()

    init(_ policy: (any ReconnectionPolicy)?) { self.policy = policy }

    var isAway: Bool {
        switch state {
        case .away, .connecting(_, isReturn: true): true
        case .idle, .connecting, .ready, .draining: false
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
        case .ready(let id):
            guard case .connecting(id, _) = state else { return [] }
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
            return state == .away ? attempt() : []
        case .sighted(let hasMoved):
            return hurry(hasMoved: hasMoved)
        }
    }
}

extension ClientMachine {
    private mutating func connect(_ waiter: Waiter) -> [Action] {
        if case .ready = state { return [.answer([waiter], nil)] }
        waiters.append(waiter)
        switch state {
        case .idle: return open(isReturn: false)
        // A connection that is closing ends soon, which resumes the waiter.
        case .connecting, .ready, .draining, .away: return hurry(hasMoved: false)
        }
    }

    private mutating func cancel(_ waiter: Waiter, closes: Bool) -> [Action] {
        var actions: [Action] = []
        if let position = waiters.firstIndex(of: waiter) {
            actions.append(.answer([waiters.remove(at: position)], .connectingCancelled))
        } else if !closes {
            return []
        }
        let isUnwanted = if case .connecting(_, isReturn: false) = state { waiters.isEmpty } else { false }
        if closes || isUnwanted { actions += disconnect(DisconnectReason(.cancelled)) }
        return actions
    }

    private mutating func disconnect(_ reason: DisconnectReason) -> [Action] {
        switch state {
        case .idle:
            return []
        case .connecting(let id, isReturn: false):
            return stop(.connectingCancelled, abandoning: id)
        case .ready(let id), .draining(let id, _):
            state = .draining(id, reconnects: false)
            return [.close(id, reason)]
        case .connecting(let id, isReturn: true):
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
            recovery?.returnTime = now
            recovery?.isEarly = false
            recovery?.isServiceBack = false
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
        case .connecting(id, isReturn: false):
            return stop(.noDevice(reason, peer))
        case .connecting(id, isReturn: true):
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
        if !isRenewed, let recovery, !recovery.isSettled(at: now) {
            return [.startWatch] + proceed(after: .lostAgain(reason, peer), at: now)
        }
        recovery = Recovery(reason: reason, policy: policy, lossTime: now, dueTime: now)
        return [.startWatch] + proceed(after: nil, at: now)
    }

    /// Plans the next attempt, or ends the device. After an early attempt, it repeats the one that the policy has
    /// planned; otherwise it asks the policy for a new one.
    ///
    /// - Parameter error: why the previous attempt failed; `nil` for the first.
    private mutating func proceed(after error: ElementalError?, at now: ContinuousClock.Instant) -> [Action] {
        guard var plan = recovery else { return [] }
        let wasUnderWay = state != .away && isAway
        state = .away
        // The service was sighted during the attempt, which may have begun too early: retry at once.
        let isOvertaken = wasUnderWay && plan.isServiceBack
        let isRepeated =
            wasUnderWay && (plan.isEarly || isOvertaken) && plan.repetitions < Recovery.maximumRepetitionCount
        plan.isEarly = isRepeated && isOvertaken && now < plan.dueTime
        plan.isServiceBack = false
        plan.repetitions = isRepeated ? plan.repetitions + 1 : 0
        if !isRepeated { plan.number += 1 }
        let attempt = ReconnectionAttempt(
            number: plan.number, elapsed: now - plan.lossTime, reason: plan.reason, lastError: error)
        if !isRepeated {
            guard let delay = plan.policy.delay(before: attempt) else {
                // The connection was closed on purpose, which does not explain the end.
                guard let error, plan.reason.kind == .pairingChanged else { return end(plan.reason) }
                return end(DisconnectReason(.networkError(error.message)))
            }
            plan.dueTime = now + max(delay, .zero)
        }
        let delay = isOvertaken ? .zero : max(plan.dueTime - now, .zero)
        plan.next = attempt
        plan.hasDelay = delay > .zero
        recovery = plan
        return [.emit(.willReconnect(attempt, delay: delay)), .startTimer(delay)]
    }

    /// Makes the next attempt early. It does not use up the one that the policy planned: a sighting may be a stale mDNS
    /// record, and a policy with one attempt left would otherwise give up although the service is about to return.
    private mutating func hurry(hasMoved: Bool) -> [Action] {
        switch state {
        case .away:
            guard let plan = recovery, let next = plan.next else { return [] }
            if plan.hasDelay { recovery?.isEarly = true }
            return [.emit(.willReconnect(next, delay: .zero)), .startTimer(.zero)]
        case .connecting(_, isReturn: true):
            recovery?.isServiceBack = !hasMoved
            return hasMoved ? attempt() : []
        case .idle, .connecting, .ready, .draining:
            return []
        }
    }

    private mutating func attempt() -> [Action] {
        var actions: [Action] = [.cancelTimer]
        if case .connecting(let id, _) = state { actions.append(.abandon(id)) }
        return actions + open(isReturn: true)
    }
}

private struct Recovery {
    /// A connection that is lost again within this time does not reset the count of attempts, so that a service that
    /// drops connections at once is not contacted forever.
    static let steadyTime = Duration.seconds(5)
    /// Extra attempts that sightings can cause per attempt of the policy, so that a flapping listing does not keep a
    /// device trying forever.
    static let maximumRepetitionCount = 8

    let reason: DisconnectReason
    let policy: any ReconnectionPolicy
    let lossTime: ContinuousClock.Instant
    var next: ReconnectionAttempt?
    var dueTime: ContinuousClock.Instant
    var hasDelay = false
    var number = 0
    var repetitions = 0
    /// Whether the next attempt, or the one in progress, is ahead of the policy's time.
    var isEarly = false
    var isServiceBack = false
    var returnTime: ContinuousClock.Instant?

    func isSettled(at now: ContinuousClock.Instant) -> Bool { returnTime.map { now - $0 >= Self.steadyTime } ?? false }
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
        recovery = nil
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
