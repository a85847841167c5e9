/// Bytes transferred over the machine's network interfaces since boot, from `/proc/net/dev` (proc_pid_net(5)).
public struct NetworkCounters: Sendable, Hashable {
    public let bytesReceived: UInt64
    public let bytesSent: UInt64

    /// Adds up all interfaces except loopback.
    ///
    /// - Parameter text: the contents of `/proc/net/dev`: two lines of headings, then for each interface its name, a
    ///   colon, eight numbers of what was received and eight of what was sent, bytes first. Old kernels leave no blank
    ///   after the colon.
    public init?(_ text: some StringProtocol) {
        let lines = text.split(separator: "\n")
        guard lines.count >= 2, lines[0].contains("|"), lines[1].contains("|") else { return nil }
        var received: UInt64 = 0
        var sent: UInt64 = 0
        for line in lines.dropFirst(2) {
            // An alias such as "eth0:1" contains a colon, so the last one is the separator.
            guard let colon = line.lastIndex(of: ":") else { continue }
            let name = line[..<colon].drop(while: \.isWhitespace)
            let numbers = line[line.index(after: colon)...].split(whereSeparator: \.isWhitespace).map { UInt64($0) }
            guard name != "lo", numbers.count >= 16, let bytesIn = numbers[0], let bytesOut = numbers[8] else {
                continue
            }
            received &+= bytesIn
            sent &+= bytesOut
        }
        bytesReceived = received
        bytesSent = sent
    }

    /// Bytes per second since `earlier`, or `nil` if the counters decreased because an interface was removed.
    public func rates(since earlier: NetworkCounters, seconds: Double) -> (received: Double, sent: Double)? {
        guard seconds > 0, bytesReceived >= earlier.bytesReceived, bytesSent >= earlier.bytesSent else { return nil }
        return (
            Double(bytesReceived - earlier.bytesReceived) / seconds, Double(bytesSent - earlier.bytesSent) / seconds
        )
    }
}
