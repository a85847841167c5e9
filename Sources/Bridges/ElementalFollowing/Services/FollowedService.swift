internal import Elemental
internal import NIOCore
internal import Support

/// Follows one service: connects, tries again, tells what it sees.
///
/// Everything that it tells, it tells on one event loop, which is that of its devices: so the events are in order.
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
        /// Where the service may be if it is not there, in the order in which they are tried.
        var others: [ServicePlace] = []
        /// How often another place was turned to since something changed.
        var turns = 0
        /// Whether it is listed, or needs no listing.
        var isListed = true
        var attachment: Attachment?
        var values: HandlerRegistration?
        /// Where the values end that were told of elements with a history, by their names.
        var positions: [String: HistoryPosition] = [:]
        var pairedRole: Role?
        /// Whether the device is to be replaced by another one at once.
        var mustRenew = false
        /// Whether the user asked for the next attempt.
        var wasAsked = false
        /// Whether the place has changed since that was last looked at.
        var hasMoved = false
        /// The refusal that was reported and still holds.
        var refusal: FollowingProblem?
        /// The bytes of each element's newest value that count, and all of them.
        var held: [Int8: Int] = [:]
        var heldByteCount = 0
        var wasToldLeftOut = false
    }

    enum End {
        /// Begin anew at once.
        case renew
        case refused(FollowingProblem)
        /// Try again later.
        case failed(FollowingProblem, wasSteady: Bool)
    }

    /// The shortest time between two attempts that something else than the time has called for.
    private static let leastInterval = Duration.milliseconds(250)

    let key: ServiceKey
    let options: FollowerOptions
    let loop: any EventLoop
    let state: Locked<State>
    /// Opened when something has changed that an attempt should not wait for.
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
    /// Whether it goes on when there is no connection.
    var isWanted: Bool { options.keepsGone || state.withLock { $0.isListed } }

    /// Follows the service until it is gone or the task is cancelled. Nothing is told after it has returned.
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
        // What was told is out, and nobody is called after this.
        let isOver = !Task.isCancelled
        await loop.run {
            if isOver { self.tell(.state(self.key, .gone)) }
            self.releaseAll()
        }
    }

    /// - Returns: whether the place that is turned to has not been tried since something changed.
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

    /// - Returns: whether the next attempt is made without a word.
    private func pause(_ duration: Duration) async -> Bool {
        _ = await wake.wait(duration, on: loop)
        return state.withLock { state in
            defer { state.wasAsked = false }
            return !state.wasAsked
        }
    }

    /// Tells on the event loop.
    func say(_ event: FollowerEvent) {
        loop.execute { [tell] in tell(event) }
    }

    /// Tells at once. Must be called on the event loop.
    func sayNow(_ event: FollowerEvent) { tell(event) }
}

// What the network and the user say. From any thread.
extension FollowedService {
    /// Zeroconf says where the service is, or may be if it is not there, and what it is.
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

    /// The service is listed no more. A connection may last all the same.
    func withdraw() {
        state.withLock { $0.isListed = false }
        guard !isWanted else { return }
        if let device { if device.isReconnecting { device.disconnect() } } else { wake.open() }
    }

    /// - Parameter asked: whether the user asks for the next attempt, who is told that it is made.
    func hurry(asked: Bool = false) {
        if asked { state.withLock { if $0.attachment == nil { $0.wasAsked = true } } }
        wake.open()
    }

    /// The service has granted that role: connects anew, unless that was seen in the store and done meanwhile.
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
