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
    private static let leastShare = 0.55
    private static let firstRest = TimeAmount.milliseconds(100)
    private static let longestRest = TimeAmount.seconds(10)

    /// How often it may be told to move before it has to rest.
    private let maximumMoveCount: Int
    private var elapsed = TimeAmount.zero
    private var used = TimeAmount.zero
    private var moveCount = 0
    private var rest = Self.firstRest

    /// - Parameter coreCount: cores between which the thread may move.
    init(coreCount: Int) { maximumMoveCount = min(coreCount - 1, 3) }

    /// Adds time awake.
    ///
    /// A thread that shares its core with another one like it is told to move to another core, of which there may be an idle
    /// one: what answers at once is placed by the system where it was asked. Only then it rests, twice as long each time.
    ///
    /// - Parameters:
    ///   - elapsed: the time that has passed.
    ///   - used: the processor time of the thread meanwhile.
    mutating func note(elapsed: TimeAmount, used: TimeAmount) -> Advice {
        self.elapsed = self.elapsed + elapsed
        self.used = self.used + used
        guard self.elapsed >= Self.window else { return .stay }
        let isShared = Self.isShared(self.elapsed, self.used)
        (self.elapsed, self.used) = (.zero, .zero)
        guard isShared else {
            moveCount = 0
            rest = Self.firstRest
            return .stay
        }
        // The other one may have moved meanwhile.
        guard Self.isShared(elapsed, used) else { return .stay }
        if moveCount < maximumMoveCount {
            moveCount += 1
            return .move
        }
        defer { rest = min(.nanoseconds(2 * rest.nanoseconds), Self.longestRest) }
        return .rest(rest)
    }

    private static func isShared(_ elapsed: TimeAmount, _ used: TimeAmount) -> Bool {
        Double(used.nanoseconds) < leastShare * Double(elapsed.nanoseconds)
    }
}
