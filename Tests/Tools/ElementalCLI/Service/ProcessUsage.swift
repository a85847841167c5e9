import Foundation
import TestSupport

/// The resources that a running process has used so far.
struct ProcessUsage {
    /// Seconds of CPU time.
    let processorTime: Double
    /// Its peak memory in bytes.
    let peakByteCount: Int

    init(of child: ChildProcess) throws {
        let stat = try String(contentsOfFile: "/proc/\(child.processID)/stat", encoding: .utf8)
        // After the program's name in parentheses; user and system time are fields 14 and 15 (proc(5)).
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        let status = try String(contentsOfFile: "/proc/\(child.processID)/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst()
            .first
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]),
            let peak = peak.flatMap({ Int($0) })
        else { throw TestSupportError("the usage of \(child.processID) cannot be read") }
        processorTime = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        peakByteCount = peak * 1024
    }
}
