import Foundation

/// The resource usage of a running process, from /proc.
struct ProcessUsage {
    /// Resident memory in bytes.
    var residentByteCount: Double
    /// CPU time in seconds, user and kernel mode, all threads.
    var processorTime: Double

    init(of pid: pid_t) throws {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let resident = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = resident?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { throw CompareError("/proc/\(pid)/status tells no VmRSS") }
        residentByteCount = kibibytes * 1024

        // schedstat counts nanoseconds where stat counts hundredths of a second; one file per thread.
        let tasks = "/proc/\(pid)/task"
        processorTime = try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
            let text = (try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)) ?? ""
            return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
        }
    }
}
