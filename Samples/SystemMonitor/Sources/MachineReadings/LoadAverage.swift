/// How many processes ran or waited to run, on average: the first three numbers of `/proc/loadavg` (proc_loadavg(5)).
public struct LoadAverage: Sendable, Hashable {
    public let oneMinute: Double
    public let fiveMinutes: Double
    public let fifteenMinutes: Double

    /// - Parameter text: the contents of `/proc/loadavg`, such as `0.20 0.18 0.12 1/80 11206`.
    public init?(_ text: some StringProtocol) {
        let numbers = text.split(whereSeparator: \.isWhitespace).prefix(3).compactMap { Double($0) }
        guard numbers.count == 3, numbers.allSatisfy({ $0.isFinite && $0 >= 0 }) else { return nil }
        oneMinute = numbers[0]
        fiveMinutes = numbers[1]
        fifteenMinutes = numbers[2]
    }
}
