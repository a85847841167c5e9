import Foundation

/// The machine that the comparison ran on.
struct MachineDescription: Encodable {
    var processor: String
    var cores: Int
    var memoryGibibytes: Double
    var kernel: String
    var system: String
    var swift: String
    var date: String
    /// The load average of the last minute before the comparison.
    var load: Double

    init() {
        func lines(_ path: String) -> [Substring] {
            ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        func field(_ name: String, of path: String, separator: Character) -> String? {
            lines(path).first { $0.hasPrefix(name) }?.split(separator: separator, maxSplits: 1).last
                .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")) }
        }
        processor =
            field("model name", of: "/proc/cpuinfo", separator: ":")
            ?? field("Model", of: "/proc/cpuinfo", separator: ":") ?? "unknown processor"
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryGibibytes = (Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824 * 10).rounded() / 10
        kernel = lines("/proc/sys/kernel/osrelease").first.map(String.init) ?? "unknown"
        system = field("PRETTY_NAME", of: "/etc/os-release", separator: "=") ?? "Linux"
        swift = Self.swiftVersion() ?? "unknown"
        date = Date().formatted(.iso8601)
        load = lines("/proc/loadavg").first?.split(separator: " ").first.flatMap { Double($0) } ?? 0
    }

    var text: String {
        """
        \(processor), \(cores) cores, \(memoryGibibytes) GiB; \(system), Linux \(kernel); Swift \(swift)
        \(date); load before: \(load)
        """
    }

    private static func swiftVersion() -> String? {
        guard let child = try? Child(Command("swift", ["--version"])) else { return nil }
        defer { child.end() }
        let words = (try? child.line(startingWith: "Swift version", within: 20))?.text.split(separator: " ")
        return words?.dropFirst(2).first.map(String.init)
    }
}
