internal import ElementalSecurity
internal import ElementalWire
import Support

/// The files of one element's history, oldest first. Each continues the one before it.
///
/// Values are appended, and the oldest file is removed when its values are dropped. Calls block.
struct HistoryFiles {
    /// A new file is begun when the last one reaches an eighth of the history's maximum, within these bounds.
    static let fileByteCounts = 4096...(1 << 20)
    /// The minimum count of numbers that a mark reserves.
    private static let leastReserve: UInt64 = 256

    struct File {
        let name: String
        fileprivate(set) var byteCount: Int
        /// The bytes of its values, with their headers.
        fileprivate(set) var valueByteCount: Int
        /// The number after its last value.
        fileprivate(set) var end: UInt64
        /// The end of the values that were appended last.
        fileprivate var last: HistoryRecords.End?
        /// Whether nothing may be appended: the file ends with an incomplete block, or was replaced.
        fileprivate var isClosed = false

        init(name: String, byteCount: Int = 0, valueByteCount: Int = 0, end: UInt64) {
            (self.name, self.byteCount, self.valueByteCount, self.end) = (name, byteCount, valueByteCount, end)
        }
    }

    /// The prefix of the files' names, which identifies the element.
    private let prefix: String
    private let clock: HistoryClock
    /// The maximum size of the values in bytes.
    private var limit = 0
    private(set) var all: [File] = []
    /// The head of this run; `nil` before its first write.
    private var head: HistoryHead?
    /// The number of the next value to write.
    private(set) var next: UInt64 = 1
    /// The highest reserved number: as written, and as synced to the disk.
    private var lastPossible = (written: UInt64(0), synchronised: UInt64(0))
    /// The anchor that was written last: microseconds to add to the clock for the time since 1970; 0 if unknown.
    private var anchor: Int64 = 0
    /// The next number at the last sync, and the maximum number of values between two syncs.
    private var lastSync = (next: UInt64(1), most: UInt64(0))
    /// The files with changes that are not synced yet.
    private var changed: Set<String> = []
    /// Whether a file was created since the directory was synced.
    var hasNewFile = false

    init(_ key: ServiceHistories.Key, _ clock: HistoryClock) {
        let hash = "\(key.type) \(key.readers) \(key.name)".utf8.fnv1a
        prefix = "\(key.id)-\(Self.hexadecimal(UInt64(hash), 8))"
        self.clock = clock
    }

    /// Adds a file that was read; it follows those added before.
    ///
    /// - Parameter isCertain: whether the file is certainly synced. A program that was killed during this boot may have
    ///   left it unsynced.
    mutating func add(_ file: File, isCertain: Bool) {
        all.append(file)
        guard !isCertain else { return }
        changed.insert(file.name)
        hasNewFile = true
    }

    var byteCount: Int { all.reduce(0) { $0 + $1.byteCount } }
    /// Whether any change is not synced yet.
    var hasChanges: Bool { head != nil && (hasNewFile || !changed.isEmpty) }
    var isOfThisRun: Bool { head != nil }

    /// Whether the numbers that are reserved on the disk may run out soon.
    var mustSynchronise: Bool { hasChanges && lastPossible.synchronised < next - 1 + reserve / 2 }

    /// Four times the maximum number of values between two syncs.
    private var reserve: UInt64 { max(Self.leastReserve, 4 * max(lastSync.most, next - lastSync.next)) }

    // MARK: Writing

    /// Begins a life, or resumes one that had ended. It must be synced before any client gets a value.
    mutating func begin(_ head: HistoryHead, limit: Int, in directory: borrowing ProtectedDirectory)
        throws(SecurityError)
    {
        self.limit = limit
        if self.head != head { (next, lastSync.next) = (head.first, head.first) }
        try write(nil, head, to: directory)
    }

    mutating func append(_ values: UnwrittenValues, to directory: borrowing ProtectedDirectory) throws(SecurityError) {
        limit = values.limit
        if head != values.head { lastSync.next = max(lastSync.next, values.head.first) }
        try write(values.records, values.head, to: directory)
    }

    /// Whether these continue the written values. Otherwise they belong to a history that was dropped meanwhile.
    func isFollowed(by values: UnwrittenValues) -> Bool { values.records.first >= next }

    /// Appends values, preceded by a head and a mark where they are needed.
    ///
    /// - Parameter isEnd: whether the life ends here, so that its last number is known.
    private mutating func write(
        _ values: HistoryRecords?, _ head: HistoryHead, isEnd: Bool = false, to directory: borrowing ProtectedDirectory
    ) throws(SecurityError) {
        let next = values?.end ?? next
        let begins = isFull || all.last?.byteCount == 0 || self.head != head
        var mark: (lastPossible: UInt64, anchor: Int64)?
        if isEnd {
            if begins || lastPossible.written != next - 1 { mark = (next - 1, clock.anchor()) }
        } else if begins || lastPossible.written < next - 1 + reserve / 2 || anchor == 0 && clock.anchor() != 0 {
            let reserve = max(reserve, 4 * (next - min(next, lastSync.next)))
            mark = (next - 1 + reserve, clock.anchor())
        }
        var blocks: [HistoryBlock] = begins ? [.head(head)] : []
        if let mark { blocks.append(.mark(lastPossible: mark.lastPossible, anchor: mark.anchor)) }
        if let values { blocks.append(.values(values)) }
        guard !blocks.isEmpty else { return }
        try append(blocks, values, end: next, to: directory)
        (self.head, self.next) = (head, next)
        if let mark { (lastPossible.written, anchor) = mark }
    }

    private var isFull: Bool {
        let most = min(max(limit / 8, Self.fileByteCounts.lowerBound), Self.fileByteCounts.upperBound)
        return all.last.map { $0.isClosed || $0.byteCount >= most } ?? true
    }

    private mutating func append(
        _ blocks: [HistoryBlock], _ values: HistoryRecords?, end: UInt64, to directory: borrowing ProtectedDirectory
    ) throws(SecurityError) {
        if isFull {
            let last = all.last.flatMap { Self.number(of: $0.name) } ?? 0
            all.append(File(name: "\(prefix)-\(Self.hexadecimal(last + 1, 16))", end: end))
            hasNewFile = true
        }
        var file = all.removeLast()
        defer { all.append(file) }
        let bytes = blocks.flatMap { $0.bytes(behind: file.last) }
        var opened = try directory.append(to: file.name)
        guard opened.byteCount == file.byteCount else {
            // It was removed or replaced by another program.
            file.isClosed = true
            throw SecurityError(
                .corrupt,
                "another program removed or replaced \(directory.path(of: file.name)); continuing in a new file")
        }
        defer { file.isClosed = opened.isDamaged }
        try opened.append(bytes)
        file.byteCount += bytes.count
        file.end = end
        if let values {
            file.valueByteCount += values.bytes.count
            file.last = HistoryRecords.End(values)
        }
        changed.insert(file.name)
    }

    /// Syncs all changes to the disk.
    ///
    /// - Parameter isEnd: whether the life ends here, so that its last number is known.
    mutating func synchronise(_ directory: borrowing ProtectedDirectory, isEnd: Bool) throws(SecurityError) {
        guard let head else { return }
        // Writes a new mark if the last one does not reserve enough numbers to avoid another sync soon.
        let isShort = hasChanges && lastPossible.written < next - 1 + reserve / 4 * 3
        if isShort, !isEnd { lastPossible.written = 0 }
        try write(nil, head, isEnd: isEnd, to: directory)
        for name in changed {
            try directory.append(to: name).synchronise()
            changed.remove(name)
        }
        lastPossible.synchronised = lastPossible.written
        lastSync = (next, max(lastSync.most, next - lastSync.next))
    }

    /// Whether the oldest file should be removed: all its values were dropped, or the other files reach the maximum.
    /// Heads and marks count only when they take twice as many bytes as the values may.
    func hasTooMany(oldest: UInt64) -> Bool {
        guard all.count > 1, let first = all.first else { return false }
        let valueByteCount = all.reduce(0) { $0 + $1.valueByteCount }
        return first.end <= oldest || valueByteCount - first.valueByteCount >= limit
            || byteCount > 3 * limit + 64 * 1024
    }

    mutating func removeFirst(from directory: borrowing ProtectedDirectory) throws(SecurityError) {
        guard let file = all.first else { return }
        try directory.unlink(file.name)
        all.removeFirst()
        changed.remove(file.name)
    }

    // MARK: Names

    /// Whether this is the name of a history's file, such as `1-4f2c91d0-00000000000004d2`: the element's identifier, a
    /// hash of its name, type and readers, and the file's number.
    static func isFile(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 3 && Int8(parts[0]) != nil && parts[1].count == 8 && UInt64(parts[1], radix: 16) != nil
            && parts[2].count == 16 && number(of: name).map { $0 < HistoryRecords.maximumNumber } ?? false
    }

    private static func number(of name: String) -> UInt64? { UInt64(name.suffix(16), radix: 16) }

    private static func hexadecimal(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: width - digits.count) + digits
    }
}

/// Values that are not written yet.
struct UnwrittenValues {
    let head: HistoryHead
    /// The maximum size of the element's history in bytes.
    let limit: Int
    /// The number of the oldest value that is kept.
    let oldest: UInt64
    let records: HistoryRecords
}

/// A life that is to begin, before its first value.
struct HistoryBeginningLife {
    let head: HistoryHead
    /// The maximum size of the history in bytes.
    let limit: Int
    /// The number of the oldest value that is kept.
    let oldest: UInt64
}
