import Support

/// Spellings of earlier versions, which this one still takes, with a word on standard error.
enum OldSpelling {
    private static let used = Locked<[String]>([])

    /// The command line has `old`, which is written otherwise now.
    static func note(_ old: String, now new: String) {
        let line = "\(old) is an old spelling, which the next version will not take; write \(new)"
        used.withLock { if !$0.contains(line) { $0.append(line) } }
    }

    static func take() -> [String] {
        used.withLock { used in
            defer { used = [] }
            return used
        }
    }
}
