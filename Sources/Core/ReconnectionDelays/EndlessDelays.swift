/// An immediate attempt and then one after each interval. It never gives up.
public struct EndlessDelays: NumberedDelays {
    /// The delay before each attempt but the first, counted from the failure of the previous one.
    public let interval: Duration

    /// Creates a policy that never gives up.
    public init(every interval: Duration) { self.interval = interval }

    public func delay(before number: Int) -> Duration? { number == 1 ? .zero : interval }
}

extension RetryPolicy where Self == EndlessDelays {
    /// An immediate attempt and then one after each interval, indefinitely.
    public static func forever(every interval: Duration = .seconds(5)) -> EndlessDelays {
        EndlessDelays(every: interval)
    }
}
