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
        /// The number behind its last value.
        fileprivate(set) var end: UInt64
        /// Whether nothing may be appended, because it ends with a part of something.
        fileprivate var isClosed = false

        init(name: String, byteCount: Int, end: UInt64) {
            (self.name, self.byteCount, self.end) = (name, byteCount, end)
        }
    }

    /// What identifies the files among those of all elements; their names begin with it.
    private let prefix: String
    private let clock: HistoryClock
    private(set) var all: [File] = []
    /// Of this run of the program; `nil` if it has written nothing.
    private var head: HistoryHead?
    /// The number of the next value to write.
    private var next: UInt64 = 1
    /// The last number that may be given before that is written again.
    private var lastPossible: UInt64 = 0
    /// Microseconds from the clock to those since 1970, as it was written; 0 if that was not known.
    private var anchor: Int64 = 0
    /// The number of the next value when the files were forced onto the disk, and the most values that came between.
    private var lastSync = (next: UInt64(1), most: UInt64(0))
    /// The files that changed since they were forced onto the disk.
    private var changed: Set<String> = []
    private(set) var hasNewFile = false

    init(_ key: ServiceHistories.Key, _ clock: HistoryClock) {
        let hash = "\(key.type) \(key.readers) \(key.name)".utf8.fnv1a
        prefix = "\(key.id)-\(Self.hexadecimal(UInt64(hash), 8))"
        self.clock = clock
    }

    /// A file that was read, which comes behind those before.
    mutating func add(_ file: File) { all.append(file) }

    var byteCount: Int { all.reduce(0) { $0 + $1.byteCount } }
    var hasChanges: Bool { !changed.isEmpty }
    var isOfThisRun: Bool { head != nil }

    /// Whether more numbers may soon be given than was written.
    var mustSynchronise: Bool { hasChanges && lastPossible < next - 1 + reserve / 2 }

    /// Four times what came in the longest interval.
    private var reserve: UInt64 { max(Self.leastReserve, 4 * max(lastSync.most, next - lastSync.next)) }

    // MARK: Writing

    /// Begins a life: no value of it is told to anybody before that is on the disk.
    mutating func begin(_ head: HistoryHead, limit: Int, in directory: borrowing ProtectedDirectory)
        throws(SecurityError)
    {
        (next, lastSync.next) = (head.first, head.first)
        try append([.head(head), mark()], end: head.first, limit, to: directory)
        self.head = head
    }

    /// Appends values.
    mutating func append(_ values: UnwrittenValues, to directory: borrowing ProtectedDirectory) throws(SecurityError) {
        let isNew = isFull(values.limit)
        let before = next
        next = values.records.end
        var blocks: [HistoryBlock] = isNew || head != values.head ? [.head(values.head)] : []
        if !blocks.isEmpty || lastPossible < next - 1 + reserve / 2 { blocks.append(mark()) }
        do throws(SecurityError) {
            try append(blocks + [.values(values.records)], end: next, values.limit, to: directory)
        } catch {
            next = before
            throw error
        }
        head = values.head
    }

    /// Whether these follow what was written. Otherwise they are of a history that was forgotten meanwhile.
    func isFollowed(by values: UnwrittenValues) -> Bool { values.records.first >= next }

    private func isFull(_ limit: Int) -> Bool {
        let most = min(max(limit / 8, Self.fileByteCounts.lowerBound), Self.fileByteCounts.upperBound)
        return all.last.map { $0.isClosed || $0.byteCount >= most } ?? true
    }

    private mutating func mark() -> HistoryBlock {
        (lastPossible, anchor) = (next - 1 + reserve, clock.anchor())
        return .mark(lastPossible: lastPossible, anchor: anchor)
    }

    private mutating func append(
        _ blocks: [HistoryBlock], end: UInt64, _ limit: Int, to directory: borrowing ProtectedDirectory
    ) throws(SecurityError) {
        if isFull(limit) {
            let last = all.last.flatMap { UInt64($0.name.suffix(16), radix: 16) } ?? 0
            all.append(File(name: "\(prefix)-\(Self.hexadecimal(last + 1, 16))", byteCount: 0, end: end))
            hasNewFile = true
        }
        var file = all.removeLast()
        defer { all.append(file) }
        let bytes = blocks.flatMap(\.bytes)
        var opened = try directory.append(to: file.name)
        defer { file.isClosed = opened.isDamaged }
        try opened.append(bytes)
        file.byteCount += bytes.count
        file.end = end
        changed.insert(file.name)
    }

    /// Forces onto the disk what was appended.
    ///
    /// - Parameter isEnd: whether no value follows for now, so that it is known how many there were.
    mutating func synchronise(_ directory: borrowing ProtectedDirectory, isEnd: Bool) throws(SecurityError) {
        guard head != nil else { return }
        let isShort = lastPossible < next - 1 + reserve / 4 * 3
        if isEnd, lastPossible != next - 1 {
            (lastPossible, anchor) = (next - 1, clock.anchor())
            try append([.mark(lastPossible: lastPossible, anchor: anchor)], end: next, .max, to: directory)
        } else if !isEnd, hasChanges, isShort || anchor == 0 && clock.anchor() != 0 {
            try append([mark()], end: next, .max, to: directory)
        }
        for name in changed {
            try directory.append(to: name).synchronise()
            changed.remove(name)
        }
        lastSync = (next, max(lastSync.most, next - lastSync.next))
        hasNewFile = false
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
        return parts.count == 3 && Int8(parts[0]) != nil && parts[1].count == 8 && parts[2].count == 16
            && parts.dropFirst().allSatisfy { UInt64($0, radix: 16) != nil }
    }

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
