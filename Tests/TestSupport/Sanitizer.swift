import Foundation

/// The sanitizer that this test run was built with (`Tests/run --sanitize`), if any.
public enum Sanitizer: String, Sendable {
    case thread
    case address

    /// The one in this process.
    public static let current: Sanitizer? = [.thread, .address].first { sanitizer in
        #if os(Linux)
        let everything = UnsafeMutableRawPointer(bitPattern: 0)
        #else
        let everything = UnsafeMutableRawPointer(bitPattern: -2)
        #endif
        return dlsym(everything, sanitizer.symbol) != nil
    }

    /// How much longer a process may take than it would without a sanitizer: about what the thread sanitizer costs where
    /// two processors are shared by many threads.
    public static var patience: Int { current == nil ? 1 : 5 }

    /// The variable of the environment that says where sanitizers write: this, a full stop and the process's id.
    public static let logVariable = "SANITIZER_LOG"

    /// What a sanitizer had to say of a process that has ended, or `nil` if that was nothing.
    static func report(of process: Int32, environment: [String: String]) -> String? {
        guard let log = environment[logVariable] else { return nil }
        return try? String(contentsOfFile: "\(log).\(process)", encoding: .utf8)
    }

    /// Whether an executable is built with it.
    public func isIn(_ executable: String) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: executable), options: .alwaysMapped).range(of: Data(symbol.utf8))
            != nil
    }

    /// A function that every program built with the sanitizer has, and whose name no other program mentions.
    private var symbol: String {
        switch self {
        case .thread: "__tsan_func_entry"
        case .address: "__asan_report_load8"
        }
    }
}
