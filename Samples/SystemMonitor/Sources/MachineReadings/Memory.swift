/// The machine's memory in bytes, from `/proc/meminfo` (proc_meminfo(5)).
public struct Memory: Sendable, Hashable {
    public let total: UInt64
    /// The memory available to programs without swapping, by the kernel's own estimate if it has one.
    public let available: UInt64

    public var used: UInt64 { total - available }

    /// - Parameter text: the contents of `/proc/meminfo`, lines such as `MemTotal:  8000000 kB`.
    public init?(_ text: some StringProtocol) {
        var bytes: [Substring: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let fields = Substring(line).split(whereSeparator: { $0 == ":" || $0.isWhitespace })
            guard fields.count >= 2, let number = UInt64(fields[1]) else { continue }
            let (value, overflow) = number.multipliedReportingOverflow(by: fields.last == "kB" ? 1024 : 1)
            if !overflow { bytes[fields[0]] = value }
        }
        guard let total = bytes["MemTotal"] else { return nil }
        // Kernels before 3.14 have no estimate; this one is what free(1) used to show.
        let parts = ["MemFree", "Buffers", "Cached"].compactMap { bytes[$0] }
        guard let available = bytes["MemAvailable"] ?? (parts.count == 3 ? Self.sum(parts) : nil) else { return nil }
        self.total = total
        self.available = min(available, total)
    }

    private static func sum(_ parts: [UInt64]) -> UInt64 {
        parts.reduce(0) { sum, part in
            let (value, overflow) = sum.addingReportingOverflow(part)
            return overflow ? .max : value
        }
    }
}
