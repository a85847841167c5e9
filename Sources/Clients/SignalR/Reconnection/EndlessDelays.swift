/// An attempt at once and then one after each interval. It never gives up.
public struct EndlessDelays: ReconnectionPolicy, Hashable {
    /// The delay before each attempt but the first, counted from the failure of the one before.
    public let interval: Duration

    /// A policy that tries for ever.
    public init(every interval: Duration) { self.interval = interval }

    public func delay(before attempt: ReconnectionAttempt) -> Duration? { attempt.number == 1 ? .zero : interval }
}

extension ReconnectionPolicy where Self == EndlessDelays {
    /// An attempt at once and then one after each interval, for ever.
    public static func forever(every interval: Duration = .seconds(5)) -> EndlessDelays {
        EndlessDelays(every: interval)
    }
}
