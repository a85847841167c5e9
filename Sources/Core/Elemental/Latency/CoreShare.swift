import NIOCore

/// Notices that a thread which never sleeps shares its core: it got less processor time than has passed. No clock.
struct CoreShare {
    /// What the thread should do because others want its core.
    enum Advice: Equatable {
        /// Go on: the core is its own.
        case stay
        /// Try another core.
        case move
        /// Sleep as usual for that time.
        case rest(TimeAmount)
    }

    /// Time awake that is judged as a whole.
    static let window = TimeAmount.milliseconds(10)
    /// The part of the window that a thread gets at least unless another one wants its core all the time. More than half, and
    /// less than is left by a thread of the system's that runs for one tick of 4 ms.
    private let leastShare: Double
    /// How long it waits before it does something about that, at most: two that share a core should not both leave it.
    private static let longestDelay = TimeAmount.milliseconds(5)
    private static let maximumMoveCount = 3
    private static let longestRest = TimeAmount.seconds(10)
    /// A yield that takes so long has let another thread run. One that finds nobody takes less than a microsecond.
    private static let longYield = TimeAmount.microseconds(10)
    /// Long yields that follow one another within ``yieldDistance`` before the thread rests. On a core of its own there are some
    /// fifty a second, on one that a sender or a control loop wants too several hundred.
    private static let maximumYieldCount = 8
    private static let yieldDistance = TimeAmount.milliseconds(5)

    private let firstRest: TimeAmount
    /// Whether there are cores between which the thread may move.
    private let mayMove: Bool
    private var elapsed = TimeAmount.zero
    private var used = TimeAmount.zero
    /// What is left of the time to wait; `nil` while the core seems to be its own.
    private var delay: TimeAmount?
    private var moveCount = 0
    private var rest: TimeAmount
    private var yieldCount = 0
    private var lastYield: NIODeadline?

    init(coreCount: Int) {
        (mayMove, leastShare, firstRest) = (coreCount > 1, 0.55, .milliseconds(100))
        rest = firstRest
    }

    /// For one that is awake for a fast flow only: nothing is lost where it sleeps, so it neither moves nor insists.
    static var ofFlow: CoreShare { CoreShare(leastShare: 0.75, firstRest: .seconds(1)) }

    private init(leastShare: Double, firstRest: TimeAmount) {
        (mayMove, self.leastShare, self.firstRest) = (false, leastShare, firstRest)
        rest = firstRest
    }

    /// Adds time awake.
    ///
    /// A thread that shares its core is told up to three times to move to another one, of which some may be idle: the system
    /// places what answers at once where it was asked. Only then it rests, twice as long each time.
    ///
    /// - Parameters:
    ///   - elapsed: the time that has passed.
    ///   - used: the processor time of the thread meanwhile.
    mutating func note(elapsed: TimeAmount, used: TimeAmount) -> Advice {
        self.elapsed = self.elapsed + elapsed
        self.used = self.used + used
        if let delay {
            guard self.elapsed >= delay else { return .stay }
            self.delay = nil
            defer { (self.elapsed, self.used) = (.zero, .zero) }
            // Otherwise the other one has left meanwhile.
            return isShared(self.elapsed, self.used) ? advice() : .stay
        }
        guard self.elapsed >= Self.window else { return .stay }
        if isShared(self.elapsed, self.used) {
            // Another thread that never sleeps does not hold it up for so long at once: nobody may leave in the meantime.
            if elapsed >= .nanoseconds(2 * Self.window.nanoseconds) {
                (self.elapsed, self.used) = (.zero, .zero)
                return advice()
            }
            delay = .nanoseconds(.random(in: 0...Self.longestDelay.nanoseconds))
        } else if yieldCount == 0 {
            moveCount = 0
            rest = firstRest
        }
        (self.elapsed, self.used) = (.zero, .zero)
        return .stay
    }

    /// Adds a yield of the core.
    ///
    /// The thread's part of the core tells too little where the others want it for moments only: they get it for as long as
    /// they like, since it yielded, and what has arrived waits.
    mutating func noteYield(_ time: TimeAmount, at now: NIODeadline) -> Advice {
        let isLate = lastYield.map { now - $0 > Self.yieldDistance } ?? true
        if isLate { yieldCount = 0 }
        guard time >= Self.longYield else { return .stay }
        lastYield = now
        yieldCount += 1
        guard yieldCount >= Self.maximumYieldCount else { return .stay }
        yieldCount = 0
        return advice()
    }

    private mutating func advice() -> Advice {
        if mayMove, moveCount < Self.maximumMoveCount {
            moveCount += 1
            return .move
        }
        defer { rest = min(.nanoseconds(2 * rest.nanoseconds), Self.longestRest) }
        return .rest(rest)
    }

    private func isShared(_ elapsed: TimeAmount, _ used: TimeAmount) -> Bool {
        Double(used.nanoseconds) < leastShare * Double(elapsed.nanoseconds)
    }
}
