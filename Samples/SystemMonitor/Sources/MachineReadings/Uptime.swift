/// How long the machine has been up: the first number of `/proc/uptime` (proc_uptime(5)).
public struct Uptime: Sendable, Hashable {
    public let seconds: Double

    /// - Parameter text: the contents of `/proc/uptime`, such as `350735.47 234388.90`.
    public init?(_ text: some StringProtocol) {
        guard let first = text.split(whereSeparator: \.isWhitespace).first, let seconds = Double(first),
            seconds.isFinite, seconds >= 0
        else { return nil }
        self.seconds = seconds
    }
}
