/// One attempt after each of the delays, then it gives up.
public struct ListedDelays: ReconnectionPolicy, Hashable {
    /// The delay before each attempt, counted from the failure of the previous one.
    public let delays: [Duration]

    /// Creates a policy that makes as many attempts as there are delays.
    public init(_ delays: [Duration]) { self.delays = delays }

    public func delay(before attempt: ReconnectionAttempt) -> Duration? {
        delays.indices.contains(attempt.number - 1) ? delays[attempt.number - 1] : nil
    }
}

extension ReconnectionPolicy where Self == ListedDelays {
    /// An immediate attempt and further ones after 2, 10 and 30 seconds, then it gives up.
    public static var standard: ListedDelays { ListedDelays([.zero, .seconds(2), .seconds(10), .seconds(30)]) }
}
