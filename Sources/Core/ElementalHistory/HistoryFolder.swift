internal import ElementalSecurity
internal import ElementalWire
import Support

/// The folder with the files of a service's histories. Calls block, so call them from a dedicated thread.
struct HistoryFolder: ~Copyable {
    /// A longer file was not written by this program.
    private static let maximumFileByteCount = 4 << 20
    /// The maximum number of elements with files, including those that the service no longer has.
    private static let maximumElementCount = 512

    /// A marker file that exists while every assigned number is reserved in the files. It can be removed even from a
    /// full disk.
    private static let boundedName = "bounded"

    private let directory: ProtectedDirectory
    private let lock: FileLock
    private let clock: HistoryClock
    private var elements: [ServiceHistories.Key: HistoryFiles] = [:]
    /// Whether the marker exists; `nil` if unknown.
    private var isBounded: Bool?

    /// Opens the folder, or creates it.
    init(_ path: String, _ clock: HistoryClock) throws(SecurityError) {
        try self.init(try ProtectedDirectory.create(path), clock)
    }

    /// Opens the folder; `nil` if there is none.
    init?(existing path: String, _ clock: HistoryClock) throws(SecurityError) {
        guard let directory = try ProtectedDirectory.open(path) else { return nil }
        try self.init(directory, clock)
    }

    private init(_ directory: consuming ProtectedDirectory, _ clock: HistoryClock) throws(SecurityError) {
        do throws(SecurityError) {
            lock = try directory.lock("lock", timeout: .seconds(2))
        } catch {
            guard error.code == .locked else { throw error }
            throw SecurityError(
                .locked,
                "another program stores the histories of a service of that name in \(directory.path); end it, or choose "
                    + "another directory")
        }
        self.directory = directory
        self.clock = clock
    }

    /// Whether any change is not synced yet.
    var hasChanges: Bool { elements.values.contains(where: \.hasChanges) }

    /// Whether a sync is needed before its interval has passed.
    var mustSynchronise: Bool { elements.values.contains(where: \.mustSynchronise) }

    // MARK: Reading

    /// Reads all files.
    ///
    /// - Throws: ``SecurityError/Code/corrupt`` if a newer version of this program wrote one.
    mutating func read() throws(SecurityError) -> [ServiceHistories.Key: HistoryLog] {
        // An autoclosure cannot capture a property of a noncopyable value.
        let clock = clock
        let names = try directory.names()
        let isBounded = names.contains(Self.boundedName)
        self.isBounded = isBounded
        var logs: [ServiceHistories.Key: HistoryLog] = [:]
        // One element at a time, so that only its files are in memory.
        for (_, names) in Dictionary(grouping: names.filter(HistoryFiles.isFile).sorted(), by: { $0.dropLast(16) }) {
            var blocks: [ServiceHistories.Key: [HistoryBlock]] = [:]
            for name in names {
                guard let (read, file) = try read(name), case .head(let head) = read.first,
                    elements[head.key] != nil || elements.count < Self.maximumElementCount
                else { continue }
                let isCertain = !read.contains {
                    if case .head(let head) = $0 { head.start == clock.start } else { false }
                }
                elements[head.key, default: HistoryFiles(head.key, clock)].add(file, isCertain: isCertain)
                blocks[head.key, default: []] += read
            }
            for (key, blocks) in blocks { logs[key] = HistoryLog(restoring: blocks, isBounded: isBounded, by: clock) }
        }
        return logs
    }

    /// Reads a file and truncates a damaged end; `nil` if it has no intact block.
    private func read(_ name: String) throws(SecurityError) -> ([HistoryBlock], HistoryFiles.File)? {
        var bytes: [UInt8]?
        do throws(SecurityError) {
            bytes = try directory.read(name, limit: Self.maximumFileByteCount)
        } catch {
            // It is empty, or too long.
            guard error.code == .corrupt else { throw error }
        }
        let content = HistoryBlock.read(bytes ?? [])
        if content.isNewer {
            throw SecurityError(
                .corrupt,
                "\(directory.path(of: name)) was written by a newer version; update this program, or remove the values "
                    + "(elemental history clear)")
        }
        if content.blocks.isEmpty {
            // The power failed while it was created, or another program wrote it.
            if try directory.append(to: name).byteCount == 0 {
                try directory.remove(name)
            } else {
                try directory.rename(name, to: name + ".damaged")
            }
            return nil
        }
        if let bytes, content.byteCount < bytes.count {
            var file = try directory.append(to: name)
            try file.shorten(to: content.byteCount)
        }
        var (end, valueByteCount) = (UInt64(0), 0)
        for block in content.blocks {
            switch block {
            case .head(let head): end = max(end, head.first)
            case .values(let records):
                end = max(end, records.end)
                valueByteCount += records.bytes.count
            case .mark: break
            }
        }
        let file = HistoryFiles.File(
            name: name, byteCount: content.byteCount, valueByteCount: valueByteCount, end: end)
        return (content.blocks, file)
    }

    // MARK: Writing

    /// Begins a life, or resumes one that had ended.
    mutating func begin(_ life: HistoryBeginningLife) throws(SecurityError) {
        let key = life.head.key
        guard elements[key] != nil || elements.count < Self.maximumElementCount else { return }
        try change(key) { files, directory throws(SecurityError) in
            try files.begin(life.head, limit: life.limit, in: directory)
            while files.hasTooMany(oldest: life.oldest) { try files.removeFirst(from: directory) }
        }
        try trim()
    }

    /// Appends values, and removes files whose values are dropped.
    mutating func write(_ values: UnwrittenValues) throws(SecurityError) {
        let key = values.head.key
        guard elements[key].map({ $0.isFollowed(by: values) }) ?? (elements.count < Self.maximumElementCount) else {
            return
        }
        try change(key) { files, directory throws(SecurityError) in
            try files.append(values, to: directory)
            while files.hasTooMany(oldest: values.oldest) { try files.removeFirst(from: directory) }
        }
        try trim()
    }

    private mutating func change(
        _ key: ServiceHistories.Key,
        _ body: (inout HistoryFiles, borrowing ProtectedDirectory) throws(SecurityError) -> Void
    ) throws(SecurityError) {
        var files = elements[key] ?? HistoryFiles(key, clock)
        defer { elements[key] = files }
        try body(&files, directory)
    }

    /// Removes the oldest file of the largest history while all files exceed the maximum.
    private mutating func trim() throws(SecurityError) {
        while elements.values.reduce(0, { $0 + $1.byteCount }) > ServiceHistories.maximumByteCount,
            let longest = elements.filter({ $1.all.count > 1 || !$1.isOfThisRun && !$1.all.isEmpty })
                .max(by: { $0.value.byteCount < $1.value.byteCount })
        {
            try change(longest.key) { files, directory throws(SecurityError) in
                try files.removeFirst(from: directory)
            }
        }
    }

    /// Syncs all changes to the disk.
    ///
    /// - Parameter isEnd: whether the lives end here, so that their last numbers are known.
    mutating func synchronise(isEnd: Bool = false) throws(SecurityError) {
        var failure: SecurityError?
        for key in Array(elements.keys) {
            do throws(SecurityError) {
                try change(key) { files, directory throws(SecurityError) in
                    try files.synchronise(directory, isEnd: isEnd)
                }
            } catch {
                // Still sync the other elements.
                failure = failure ?? error
            }
        }
        if elements.values.contains(where: \.hasNewFile) {
            try directory.synchronise()
            for key in Array(elements.keys) { elements[key]?.hasNewFile = false }
        }
        if let failure { throw failure }
    }

    /// Stores for the next start whether every assigned number is reserved in the files.
    mutating func note(isBounded: Bool) {
        guard isBounded != self.isBounded, !isBounded || !hasChanges else { return }
        do throws(SecurityError) {
            if isBounded {
                _ = try directory.append(to: Self.boundedName)
                try directory.synchronise()
            } else {
                try directory.remove(Self.boundedName)
            }
            self.isBounded = isBounded
        } catch {
            // It is retried with the next values.
            self.isBounded = nil
        }
    }

    /// Removes the histories of an element, or of all.
    ///
    /// - Returns: the elements' names, and how many bytes their files had.
    mutating func clear(_ element: String?) throws(SecurityError) -> [String: Int] {
        var cleared: [String: Int] = [:]
        for (key, files) in elements where element == nil || key.name == element {
            for file in files.all { try directory.unlink(file.name) }
            cleared[key.name, default: 0] += files.byteCount
            elements[key] = nil
        }
        if element == nil { try removeAll() }
        try directory.synchronise()
        return cleared
    }

    /// Removes all files, including unreadable ones.
    func removeAll() throws(SecurityError) {
        for name in try directory.names() where HistoryFiles.isFile(name) || name.hasSuffix(".damaged") {
            try directory.unlink(name)
        }
    }
}
