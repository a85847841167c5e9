/// One attempt after each of the delays, then it gives up.
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
    /// An immediate attempt and further ones after 2, 10 and 30 seconds, then it gives up.
    public static var standard: ListedDelays { ListedDelays([.zero, .seconds(2), .seconds(10), .seconds(30)]) }
}
