import NIOCore

/// Notices that a thread which never sleeps shares its core: it got less processor time than has passed. No clock.
struct CoreShare {
    /// Time awake that is judged as a whole.
    static let window = TimeAmount.milliseconds(10)
    /// The part of the window that a thread gets at least unless another one wants its core all the time.
    private static let leastShare = 0.6
    private static let firstRest = TimeAmount.milliseconds(100)
    private static let longestRest = TimeAmount.seconds(10)

    private var elapsed = TimeAmount.zero
    private var used = TimeAmount.zero
    private var rest = Self.firstRest

    /// Adds time awake.
    ///
    /// - Parameters:
    ///   - elapsed: the time that has passed.
    ///   - used: the processor time of the thread meanwhile.
    /// - Returns: how long the thread should sleep as usual, because others want its core; twice as long each time.
    mutating func note(elapsed: TimeAmount, used: TimeAmount) -> TimeAmount? {
        self.elapsed = self.elapsed + elapsed
        self.used = self.used + used
        guard self.elapsed >= Self.window else { return nil }
        let isShared = Double(self.used.nanoseconds) < Self.leastShare * Double(self.elapsed.nanoseconds)
        (self.elapsed, self.used) = (.zero, .zero)
        guard isShared else {
            rest = Self.firstRest
            return nil
        }
        defer { rest = min(.nanoseconds(2 * rest.nanoseconds), Self.longestRest) }
        return rest
    }
}
