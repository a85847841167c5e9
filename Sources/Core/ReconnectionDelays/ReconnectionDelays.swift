import Support

/// The common part of the reconnection policies of this package's libraries. Each library refines it with its own type
/// of attempt.
///
/// The policies that depend only on an attempt's number are static members here, so that `.standard`, `.exponential()`
/// and `.forever()` work in every library.
public protocol RetryPolicy: Sendable {}

/// A policy whose delays depend only on the number of the attempt. It works in every library.
public protocol NumberedDelays: RetryPolicy, Hashable {
    /// How long to wait before an attempt, or `nil` to give up.
    ///
    /// - Parameter number: the number of the attempt since the loss, starting with 1.
    func delay(before number: Int) -> Duration?
}

/// A policy that makes one attempt after each of the delays and then gives up.
public struct ListedDelays: NumberedDelays {
    /// The delay before each attempt, counted from the failure of the previous one.
    public let delays: [Duration]

    /// Creates a policy that makes as many attempts as there are delays.
    public init(_ delays: [Duration]) { self.delays = delays }

    public func delay(before number: Int) -> Duration? {
        number > 0 && number <= delays.count ? delays[number - 1] : nil
    }
}

extension RetryPolicy where Self == ListedDelays {
    /// An immediate attempt and further ones after 2, 10 and 30 seconds; then the policy gives up.
    public static var standard: ListedDelays { ListedDelays([.zero, .seconds(2), .seconds(10), .seconds(30)]) }
}

/// A policy whose delays grow by a factor up to a maximum. It never gives up.
public struct ExponentialDelays: NumberedDelays {
    let backOff: BackOff

    /// The delay before the first attempt, at least zero.
    public var first: Duration { backOff.first }
    /// The factor between successive delays, at least 1.
    public var factor: Double { backOff.factor }
    /// The longest delay.
    public var maximum: Duration { backOff.maximum }
    /// The random part of each delay, 0...1.
    public var jitter: Double { backOff.jitter }

    /// Creates a policy with growing delays. Values out of range are clamped.
    public init(first: Duration, factor: Double, maximum: Duration, jitter: Double) {
        backOff = BackOff(first: first, maximum: maximum, factor: factor, jitter: jitter)
    }

    public func delay(before number: Int) -> Duration? { backOff.delay(before: number) }
}

extension RetryPolicy where Self == ExponentialDelays {
    /// Delays that grow by a factor up to a maximum, without giving up.
    ///
    /// - Parameters:
    ///   - first: the delay before the first attempt.
    ///   - factor: the factor between successive delays.
    ///   - maximum: the longest delay.
    ///   - jitter: the random part of each delay, 0...1. With 0.2 an attempt is made after 80 to 100 % of its delay, so
    ///     that many clients do not reconnect at the same moment.
    public static func exponential(
        first: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(60), jitter: Double = 0.2
    ) -> ExponentialDelays {
        ExponentialDelays(first: first, factor: factor, maximum: maximum, jitter: jitter)
    }
}

/// A policy that makes an attempt immediately and then after each interval. It never gives up.
public struct EndlessDelays: NumberedDelays {
    /// The delay before each attempt except the first, counted from the failure of the previous one.
    public let interval: Duration

    /// Creates a policy that never gives up.
    public init(every interval: Duration) { self.interval = interval }

    public func delay(before number: Int) -> Duration? { number == 1 ? .zero : interval }
}

extension RetryPolicy where Self == EndlessDelays {
    /// An immediate attempt and then one after each interval, without giving up.
    public static func forever(every interval: Duration = .seconds(5)) -> EndlessDelays {
        EndlessDelays(every: interval)
    }
}
