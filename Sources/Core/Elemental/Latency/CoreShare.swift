import NIOCore

/// Detects that a thread which never sleeps shares its core: it got less processor time than has passed. No clock.
struct CoreShare {
    enum Advice: Equatable {
        case stay
        case move
        case rest(TimeAmount)
    }

    /// The awake time after which the share is judged.
    static let window = TimeAmount.milliseconds(10)
    /// The least part of the window that counts as an own core: more than half, and less than a system thread leaves
    /// that runs for one tick of 4 ms.
    private let leastShare: Double
    /// The longest random delay before it reacts: two threads that share a core should not both leave it.
    private static let longestDelay = TimeAmount.milliseconds(5)
    private static let maximumMoveCount = 3
    private static let longestRest = TimeAmount.seconds(10)
    /// A yield that takes longer has let another thread run; an uncontended one takes less than 1 µs.
    private static let longYield = TimeAmount.microseconds(10)
    /// Long yields within ``yieldDistance`` of each other before the thread rests. An own core has some fifty a second;
    /// one that a sender or a control loop wants too, several hundred.
    private static let maximumYieldCount = 8
    private static let yieldDistance = TimeAmount.milliseconds(5)

    private let firstRest: TimeAmount
    private let mayMove: Bool
    private var elapsed = TimeAmount.zero
    private var used = TimeAmount.zero
    /// `nil` while the core seems to be its own.
    private var delay: TimeAmount?
    private var moveCount = 0
    private var rest: TimeAmount
    private var yieldCount = 0
    private var lastYield: NIODeadline?

    init(coreCount: Int) {
        (mayMove, leastShare, firstRest) = (coreCount > 1, 0.55, .milliseconds(100))
        rest = firstRest
    }

    /// For a thread that is awake for a bulk flow only: sleeping costs it little, so it neither moves nor insists.
    static var ofFlow: CoreShare { CoreShare(leastShare: 0.75, firstRest: .seconds(1)) }

    private init(leastShare: Double, firstRest: TimeAmount) {
        (mayMove, self.leastShare, self.firstRest) = (false, leastShare, firstRest)
        rest = firstRest
    }

    /// Adds time awake.
    ///
    /// A thread that shares its core is told up to three times to move to another one, of which some may be idle: the
    /// system places a thread that answers at once on the core where it was asked. Then it rests, twice as long each
    /// time.
    ///
    /// - Parameter used: the processor time of the thread meanwhile.
    mutating func note(elapsed: TimeAmount, used: TimeAmount) -> Advice {
        self.elapsed = self.elapsed + elapsed
        self.used = self.used + used
        if let delay {
            guard self.elapsed >= delay else { return .stay }
            self.delay = nil
            defer { (self.elapsed, self.used) = (.zero, .zero) }
            // Otherwise the other thread has left meanwhile.
            return isShared(self.elapsed, self.used) ? advice() : .stay
        }
        guard self.elapsed >= Self.window else { return .stay }
        if isShared(self.elapsed, self.used) {
            // Another sleepless thread would not hold this one up for so long at once, so there is no race to leave.
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

    /// Adds a yield of the core. Its share says too little about threads that want the core for moments only: they get
    /// it for as long as they like after a yield, while input waits.
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
