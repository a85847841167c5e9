internal import Elemental
internal import NIOCore
internal import Support

/// Follows one service: connects, retries and reports events.
///
/// It reports everything on one event loop, that of its devices, so that the events are in order.
final class FollowedService: Sendable {
    typealias Teller = @Sendable (FollowerEvent) -> Void

    struct Attachment {
        let device: ElementalDevice
        let catalogue: ElementCatalogue
        var registrations: [HandlerRegistration] = []
        /// The elements whose values come from their histories, and where they begin.
        var histories: [Int8: (element: ElementDefinition, beginning: HistoryBeginning)] = [:]
    }

    struct State {
        var place: ServicePlace
        /// Further places where the service may be, in the order in which they are tried.
        var others: [ServicePlace] = []
        /// How often another place was tried since the places last changed.
        var turns = 0
        /// Whether Zeroconf lists the service; always `true` for an address.
        var isListed = true
        var attachment: Attachment?
        var values: HandlerRegistration?
        /// The newest reported positions of elements with a history, by the elements' names.
        var positions: [String: HistoryPosition] = [:]
        var pairedRole: Role?
        /// Whether to replace the device by another one at once.
        var mustRenew = false
        /// Whether the user has requested the next attempt.
        var wasAsked = false
        /// Whether the place has changed since the last check.
        var hasMoved = false
        /// The refusal that was reported and still holds.
        var refusal: FollowingProblem?
        /// The counted bytes of each element's newest value, and their sum.
        var held: [Int8: Int] = [:]
        var heldByteCount = 0
        var wasToldLeftOut = false
    }

    enum End {
        /// Connect again at once.
        case renew
        case refused(FollowingProblem)
        /// Retry later.
        case failed(FollowingProblem, wasSteady: Bool)
    }

    /// The shortest time between two attempts that do not result from a delay.
    private static let leastInterval = Duration.milliseconds(250)

    let key: ServiceKey
    let options: FollowerOptions
    let loop: any EventLoop
    let state: Locked<State>
    /// Opened when something has changed for which an attempt should not wait.
    let wake = Latch()
    private let tell: Teller
    let memory: ByteBudget
    let rooms: [Follower.Room]

    init(
        _ key: ServiceKey, _ place: ServicePlace, _ options: FollowerOptions, _ memory: ByteBudget,
        _ rooms: [Follower.Room], _ tell: @escaping Teller
    ) {
        self.key = key
        self.options = options
        self.memory = memory
        self.rooms = rooms
        self.tell = tell
        state = Locked(State(place: place))
        loop = options.connect.eventLoopGroup.next()
    }

    var place: ServicePlace { state.withLock { $0.place } }
    var device: ElementalDevice? { state.withLock { $0.attachment?.device } }
    /// Whether to connect again after a lost connection.
    var isWanted: Bool { options.keepsGone || state.withLock { $0.isListed } }

    /// Follows the service until it is gone or the task is cancelled. It reports nothing after it has returned.
    func run() async {
        say(.place(key, place))
        var backOff = BackOff(first: options.firstRetry, maximum: options.longestRetry)
        var isQuiet = false
        while !Task.isCancelled, isWanted {
            let start = ContinuousClock.now
            wake.close()
            if !isQuiet {
                state.withLock { $0.refusal = nil }
                say(.state(key, .connecting))
            }
            let end = await attempt()
            guard !Task.isCancelled, isWanted else { break }
            switch end {
            case .renew: isQuiet = false
            case .refused(let refusal):
                if turn(), refusal.kind == .identityChanged {
                    isQuiet = true
                    break
                }
                let isNews = state.withLock { state in
                    defer { state.refusal = refusal }
                    return state.refusal != refusal
                }
                if isNews { say(.state(key, .refused(refusal))) }
                isQuiet = await pause(options.refusalInterval)
            case .failed(let problem, let wasSteady):
                if wasSteady { backOff.reset() }
                _ = turn()
                let delay = backOff.next()
                state.withLock { $0.refusal = nil }
                say(.state(key, .away(problem, retryIn: delay)))
                isQuiet = await pause(delay)
            }
            await Delay.wait(max(.zero, Self.leastInterval - (.now - start)), on: loop)
        }
        // This runs after all pending reports; there are none after it.
        let isOver = !Task.isCancelled
        await loop.run {
            if isOver { self.tell(.state(self.key, .gone)) }
            self.releaseAll()
        }
    }

    /// Switches to the next place, if there is one.
    ///
    /// - Returns: whether that place has not been tried since the places last changed.
    private func turn() -> Bool {
        let place: ServicePlace? = state.withLock { state in
            guard !state.others.isEmpty else { return nil }
            state.others.append(state.place)
            state.place = state.others.removeFirst()
            state.turns += 1
            return state.place
        }
        guard let place else { return false }
        say(.place(key, place))
        return state.withLock { $0.turns <= $0.others.count }
    }

    /// - Returns: whether the next attempt is not reported.
    private func pause(_ duration: Duration) async -> Bool {
        _ = await wake.wait(duration, on: loop)
        return state.withLock { state in
            defer { state.wasAsked = false }
            return !state.wasAsked
        }
    }

    /// Reports an event on the event loop.
    func say(_ event: FollowerEvent) {
        loop.execute { [tell] in tell(event) }
    }

    /// Reports an event at once. Must be called on the event loop.
    func emitNow(_ event: FollowerEvent) { tell(event) }
}

// Changes from Zeroconf and requests of the user, from any thread.
extension FollowedService {
    /// Updates the place where Zeroconf lists the service, and the alternatives.
    func update(_ first: ServicePlace, or others: [ServicePlace] = []) {
        let isNews = state.withLock { state in
            let (old, wasListed) = (state.place, state.isListed)
            let (before, now) = ([old] + state.others, [first] + others)
            let isOther = Set(before) != Set(now)
            // The place that is tried now stays in front while the set of places is the same.
            let isSame = Set(before.map(\.target)) == Set(now.map(\.target))
            state.place = isSame ? now.first { $0.target == old.target } ?? first : first
            state.others = now.filter { $0 != state.place }
            if isOther { state.turns = 0 }
            state.isListed = true
            if state.place.differs(from: old) { state.hasMoved = true }
            return (place: old != state.place ? state.place : nil, wake: isOther || !wasListed)
        }
        if let place = isNews.place { say(.place(key, place)) }
        if isNews.wake { wake.open() }
    }

    /// The service is no longer listed. Its connection may last nevertheless.
    func withdraw() {
        state.withLock { $0.isListed = false }
        guard !isWanted else { return }
        if let device { if device.isReconnecting { device.disconnect() } } else { wake.open() }
    }

    /// - Parameter asked: whether the user requests the attempt. It is reported then.
    func hurry(asked: Bool = false) {
        if asked { state.withLock { if $0.attachment == nil { $0.wasAsked = true } } }
        wake.open()
    }

    /// Connects again with the role that the service has granted, unless that has happened already after a change in
    /// the store.
    func paired(as role: Role?) {
        let device = state.withLock { state in
            state.pairedRole = role ?? state.pairedRole
            return state.attachment?.device
        }
        if let device, device.isConnected, device.fingerprint != nil, device.grantedRole == role { return }
        renew()
    }

    func renew() {
        let device = state.withLock { state in
            state.mustRenew = true
            state.wasAsked = true
            return state.attachment?.device
        }
        device?.disconnect()
        wake.open()
    }
}

extension ServicePlace {
    /// Whether `other` is at another host, address or port.
    fileprivate func differs(from other: ServicePlace) -> Bool {
        switch (self, other) {
        case (.found(let own), .found(let other)):
            own.port != other.port || own.host != other.host || own.addresses != other.addresses
        default: self != other
        }
    }
}
