internal import ElementalSecurity
internal import ElementalWire
import Support

/// The files of one element's history, the oldest first. Each has the values that followed those of the file before.
///
/// Values are appended, and the oldest file is removed when its values are dropped. Calls block.
struct HistoryFiles {
    /// A file is followed by another when it has an eighth of what the history may have, between these.
    static let fileByteCounts = 4096...(1 << 20)
    /// How many numbers a life may give before that is written again, at least.
    private static let leastReserve: UInt64 = 256

    struct File {
        let name: String
        fileprivate(set) var byteCount: Int
        /// The bytes of its values, with their headers.
        fileprivate(set) var valueByteCount: Int
        /// The number behind its last value.
        fileprivate(set) var end: UInt64
        /// The last values that were appended.
        fileprivate var last: HistoryRecords.End?
        /// Whether nothing may be appended, because it ends with a part of something, or is another file.
        fileprivate var isClosed = false

        init(name: String, byteCount: Int = 0, valueByteCount: Int = 0, end: UInt64) {
            (self.name, self.byteCount, self.valueByteCount, self.end) = (name, byteCount, valueByteCount, end)
        }
    }

    /// What identifies the files among those of all elements; their names begin with it.
    private let prefix: String
    private let clock: HistoryClock
    /// How many bytes the values may have.
    private var limit = 0
    private(set) var all: [File] = []
    /// Of this run of the program; `nil` if it has written nothing.
    private var head: HistoryHead?
    /// The number of the next value to write.
    private(set) var next: UInt64 = 1
    /// The last number that may be given before that is written again, and the same as it is on the disk for certain.
    private var lastPossible = (written: UInt64(0), synchronised: UInt64(0))
    /// Microseconds from the clock to those since 1970, as it was written; 0 if that was not known.
    private var anchor: Int64 = 0
    /// The number of the next value when the files were forced onto the disk, and the most values that came between.
    private var lastSync = (next: UInt64(1), most: UInt64(0))
    /// The files that changed since they were forced onto the disk.
    private var changed: Set<String> = []
    /// Whether a file was made since it was forced onto the disk which there are.
    var hasNewFile = false

    init(_ key: ServiceHistories.Key, _ clock: HistoryClock) {
        let hash = "\(key.type) \(key.readers) \(key.name)".utf8.fnv1a
        prefix = "\(key.id)-\(Self.hexadecimal(UInt64(hash), 8))"
        self.clock = clock
    }

    /// A file that was read, which comes behind those before.
    ///
    /// - Parameter isCertain: whether it is on the disk. The program that wrote it may have been killed since the machine's start.
    mutating func add(_ file: File, isCertain: Bool) {
        all.append(file)
        if !isCertain { changed.insert(file.name) }
    }

    var byteCount: Int { all.reduce(0) { $0 + $1.byteCount } }
    /// Whether something waits to be forced onto the disk.
    var hasChanges: Bool { head != nil && (hasNewFile || !changed.isEmpty) }
    var isOfThisRun: Bool { head != nil }

    /// Whether more numbers may soon be given than the disk knows of.
    var mustSynchronise: Bool { hasChanges && lastPossible.synchronised < next - 1 + reserve / 2 }

    /// Four times what came in the longest interval.
    private var reserve: UInt64 { max(Self.leastReserve, 4 * max(lastSync.most, next - lastSync.next)) }

    // MARK: Writing

    /// Begins a life, or goes on with one that had ended. Before a value is told to anybody, that is to be on the disk.
    mutating func begin(_ head: HistoryHead, limit: Int, in directory: borrowing ProtectedDirectory)
        throws(SecurityError)
    {
        self.limit = limit
        if self.head != head { (next, lastSync.next) = (head.first, head.first) }
        try write(nil, head, to: directory)
    }

    /// Appends values.
    mutating func append(_ values: UnwrittenValues, to directory: borrowing ProtectedDirectory) throws(SecurityError) {
        limit = values.limit
        if head != values.head { lastSync.next = max(lastSync.next, values.head.first) }
        try write(values.records, values.head, to: directory)
    }

    /// Whether these follow what was written. Otherwise they are of a history that was forgotten meanwhile.
    func isFollowed(by values: UnwrittenValues) -> Bool { values.records.first >= next }

    /// Appends values, and what has to be said before them.
    ///
    /// - Parameter isEnd: whether no value follows for now, so that it is known how many there were.
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
            // Somebody has removed it, or put another one in its place.
            file.isClosed = true
            throw SecurityError(
                .corrupt, "\(directory.path(of: file.name)) is another file than before; another is begun")
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

    /// Forces onto the disk what was appended.
    ///
    /// - Parameter isEnd: whether no value follows for now, so that it is known how many there were.
    mutating func synchronise(_ directory: borrowing ProtectedDirectory, isEnd: Bool) throws(SecurityError) {
        guard let head else { return }
        // Not so that it is to be done again soon.
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

    /// Whether the oldest file is to be removed: its values were dropped, or the others have as much as the history may have.
    /// What is written beside values counts less, until there is much of it.
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

    /// Whether that is the name of a file, such as `1-4f2c91d0-00000000000004d2`: the element, what else its values belong to,
    /// and which of the files it is.
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

/// Values that files lack.
struct UnwrittenValues {
    let head: HistoryHead
    /// How many bytes the element's history may have.
    let limit: Int
    /// The number of the oldest value that is kept.
    let oldest: UInt64
    let records: HistoryRecords
}

/// A life of a history whose values are to follow.
struct HistoryBeginningLife {
    let head: HistoryHead
    /// How many bytes the history may have.
    let limit: Int
    /// The number of the oldest value that is kept.
    let oldest: UInt64
}
