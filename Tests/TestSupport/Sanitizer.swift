import Foundation

/// The sanitizer that this test run was built with (`Tests/run --sanitize`), if any.
public enum Sanitizer: String, Sendable {
    case thread
    case address

    /// The sanitizer in this process.
    public static let current: Sanitizer? = [.thread, .address].first { sanitizer in
        // In the whole program.
        dlsym(nil, sanitizer.symbol) != nil
    }

    /// The variable of the environment that says where sanitizers write: this, a full stop and the process's id.
    public static let logVariable = "SANITIZER_LOG"

    /// A sanitizer's report about a process that has ended, or `nil`.
    static func report(of process: Int32, environment: [String: String]) -> String? {
        guard let log = environment[logVariable] else { return nil }
        return try? String(contentsOfFile: "\(log).\(process)", encoding: .utf8)
    }

    public func isIn(_ executable: String) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: executable), options: .alwaysMapped).range(of: Data(symbol.utf8))
            != nil
    }

    /// A symbol that is in every program built with the sanitizer, and in no other.
    private var symbol: String {
        switch self {
        case .thread: "__tsan_func_entry"
        case .address: "__asan_report_load8"
        }
    }
}
