import Foundation
import Glibc

/// The current resource usage of a process.
public struct ProcessFigures: Sendable {
    private let processID: Int32

    /// The figures of a running process.
    public init(of process: ChildProcess) { processID = process.processID }

    /// Resident memory in KiB.
    public var residentMemory: Int { get throws { try status("VmRSS:") } }
    /// The peak of resident memory, in KiB.
    public var peakMemory: Int { get throws { try status("VmHWM:") } }
    /// Whether all of its threads are suspended, which a while after the signal they are.
    public var isStopped: Bool {
        get throws {
            let tasks = "/proc/\(processID)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
                let status = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
                return status.contains("State:\tT")
            }
        }
    }
    /// Open descriptors.
    public var descriptors: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count }
    }
    /// CPU time used so far, in seconds.
    public var processorTime: Double {
        get throws {
            let text = try String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
            // The second field is the program's name in parentheses and may contain blanks.
            let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
            guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
                throw TestSupportError("no processor time in '\(text)'")
            }
            return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    private func status(_ key: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) }),
            let number = Int(line.filter(\.isNumber))
        else { throw TestSupportError("no \(key) in '\(text)'") }
        return number
    }
}
