/// The CPU times of all processors together since boot, in ticks: the line `cpu` of `/proc/stat`
/// (proc_stat(5)).
public struct CPUTimes: Sendable, Hashable {
    public let busy: UInt64
    public let idle: UInt64

    /// - Parameter text: the contents of `/proc/stat`, which begins with `cpu  user nice system idle iowait irq softirq
    ///   steal guest guest_nice`. Guest time is part of user time already. Old kernels have fewer columns.
    public init?(_ text: some StringProtocol) {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") }) else { return nil }
        let ticks = line.split(separator: " ").dropFirst().prefix(8).map { UInt64($0) }
        guard ticks.count >= 4, !ticks.contains(nil) else { return nil }
        let all = ticks.compactMap { $0 }
        let idle = all[3] &+ (all.count > 4 ? all[4] : 0)
        self.idle = idle
        busy = all.reduce(0, &+) &- idle
    }

    /// The share of the time since `earlier` in which the processors were busy, in percent; `nil` if no tick has passed.
    /// The time spent waiting for I/O may decrease a little, which counts as 0.
    public func load(since earlier: CPUTimes) -> Double? {
        let busy = busy > earlier.busy ? Double(busy - earlier.busy) : 0
        let idle = idle > earlier.idle ? Double(idle - earlier.idle) : 0
        guard busy + idle > 0 else { return nil }
        return 100 * busy / (busy + idle)
    }
}
