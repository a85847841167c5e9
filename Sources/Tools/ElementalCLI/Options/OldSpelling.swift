import Support

/// Spellings of earlier versions, which this one still accepts with a warning on standard error.
enum OldSpelling {
    private static let used = Locked<[String]>([])

    /// Records that the command line contains `old`, which is now written as `new`.
    static func note(_ old: String, now new: String) {
        let line = "\(old) is an old spelling that the next version will not accept; write \(new)"
        used.withLock { if !$0.contains(line) { $0.append(line) } }
    }

    static func take() -> [String] {
        used.withLock { used in
            defer { used = [] }
            return used
        }
    }
}
