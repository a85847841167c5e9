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
    /// The minimum share of the window that counts as an own core: more than half, and less than the share left by a
    /// system thread that runs for one tick of 4 ms.
    private static let leastShare = 0.55
    /// The longest random delay before it reacts: two threads that share a core should not both leave it.
    private static let longestDelay = TimeAmount.milliseconds(5)
    private static let maximumMoveCount = 3
    private static let longestRest = TimeAmount.seconds(10)
    private static let firstRest = TimeAmount.milliseconds(100)

    private let mayMove: Bool
    private var elapsed = TimeAmount.zero
    private var used = TimeAmount.zero
    /// The random delay before a second look; `nil` while the core seems to be the thread's own.
    private var delay: TimeAmount?
    private var moveCount = 0
    private var rest = Self.firstRest

    init(coreCount: Int) { mayMove = coreCount > 1 }

    /// Advises a thread that shares its core to move to another one, up to three times, and then to rest, twice as long
    /// each time. Other cores may be idle: the system places a thread that answers at once on the core where it was
    /// asked.
    ///
    /// - Parameter used: the thread's processor time during `elapsed`.
    mutating func note(elapsed: TimeAmount, used: TimeAmount) -> Advice {
        self.elapsed = self.elapsed + elapsed
        self.used = self.used + used
        guard self.elapsed >= delay ?? Self.window else { return .stay }
        defer { (self.elapsed, self.used) = (.zero, .zero) }
        let isSecondLook = delay.take() != nil
        if isShared {
            // Another sleepless thread would not hold up this one for so long at once, so the two cannot both leave.
            if isSecondLook || elapsed >= .nanoseconds(2 * Self.window.nanoseconds) { return advice() }
            delay = .nanoseconds(.random(in: 0...Self.longestDelay.nanoseconds))
        } else if !isSecondLook {
            // On a second look, the other thread may have left only now.
            moveCount = 0
            rest = Self.firstRest
        }
        return .stay
    }

    private mutating func advice() -> Advice {
        if mayMove, moveCount < Self.maximumMoveCount {
            moveCount += 1
            return .move
        }
        defer { rest = min(.nanoseconds(2 * rest.nanoseconds), Self.longestRest) }
        return .rest(rest)
    }

    private var isShared: Bool { Double(used.nanoseconds) < Self.leastShare * Double(elapsed.nanoseconds) }
}
