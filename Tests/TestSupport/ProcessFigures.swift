import Foundation
import Glibc

/// The current resource usage of a process; memory in KiB.
public struct ProcessFigures: Sendable {
    private let processID: Int32

    public init(of process: ChildProcess) { processID = process.processID }
    public init(ofProcess processID: Int32) { self.processID = processID }

    public var residentMemory: Int { get throws { try status("VmRSS:") } }
    public var peakMemory: Int { get throws { try status("VmHWM:") } }
    /// Whether all of its threads are suspended, which a while after the signal they are.
    public var isStopped: Bool { get throws { try isEveryThread("T") } }
    /// Whether all of its threads sleep.
    public var isAsleep: Bool { get throws { try isEveryThread("S") } }
    public var children: [Int32] {
        get throws {
            try threads.flatMap { thread in
                let text = try? String(contentsOfFile: "\(thread)/children", encoding: .utf8)
                return (text ?? "").split(separator: " ").compactMap { Int32($0) }
            }
        }
    }
    public var descriptors: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count }
    }
    /// How often its threads have gone to sleep so far, those that have ended left out.
    public var waitCount: Int {
        get throws {
            try threads.reduce(0) { sum, thread in
                let text = (try? String(contentsOfFile: "\(thread)/status", encoding: .utf8)) ?? ""
                let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
                return sum + (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0)
            }
        }
    }
    public var threadCount: Int { get throws { try threads.count } }
    public func hasOpen(_ path: String) throws -> Bool {
        let folder = "/proc/\(processID)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).contains { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")) == path
        }
    }
    /// Whether it has handlers for all of these signals.
    public func catches(_ signals: Int32...) throws -> Bool {
        let text = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("SigCgt:") }),
            let mask = line.split(separator: "\t").last.flatMap({ UInt64($0, radix: 16) })
        else { throw TestSupportError("no SigCgt in '\(text)'") }
        return signals.allSatisfy { mask >> ($0 - 1) & 1 == 1 }
    }
    /// Whether it has stopped reading: it sleeps although at least so many of its connections have bytes that it could read.
    public func leavesUnread(_ connections: Int, _ end: TCPQueues.End, port: Int) throws -> Bool {
        guard try TCPQueues.unread(end, port: port) >= connections, try isAsleep else { return false }
        return try TCPQueues.unread(end, port: port) >= connections
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

    private var threads: [String] {
        get throws {
            let tasks = "/proc/\(processID)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).map { "\(tasks)/\($0)" }
        }
    }

    private func isEveryThread(_ state: String) throws -> Bool {
        // A thread may end after it was listed.
        try threads.compactMap { try? String(contentsOfFile: "\($0)/status", encoding: .utf8) }
            .allSatisfy { $0.contains("State:\t\(state)") }
    }

    private func status(_ key: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) }),
            let number = Int(line.filter(\.isNumber))
        else { throw TestSupportError("no \(key) in '\(text)'") }
        return number
    }
}

/// What the system holds for this machine's TCP connections over IPv4.
public enum TCPQueues {
    /// Whose end of a connection is meant: that of the server at a port, or that of its client.
    public enum End: Sendable {
        case server, client
    }

    /// How many connections with a server's port have bytes that the program at that end has not read.
    static func unread(_ end: End, port: Int) throws -> Int {
        let wanted = ":" + (String(port + 0x1_0000, radix: 16, uppercase: true).suffix(4))
        return try table().split(separator: "\n").count { line in
            // Number, local address, remote address, state, queues as "unsent:unread", in hexadecimal digits.
            let fields = line.split(separator: " ")
            return fields.count > 4 && fields[end == .server ? 1 : 2].hasSuffix(wanted) && fields[3] == "01"
                && fields[4].split(separator: ":").last.flatMap { Int($0, radix: 16) } ?? 0 > 0
        }
    }

    /// The system's table. Foundation takes the first short read of it for its end, after some dozens of connections.
    private static func table() throws -> String {
        guard let file = fopen("/proc/self/net/tcp", "r") else {
            throw TestSupportError("/proc/self/net/tcp: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
