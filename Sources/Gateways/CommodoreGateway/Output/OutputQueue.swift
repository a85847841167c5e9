import DequeModule
import NIOCore

/// The queue of records for the machine: answers first, then data in order.
///
/// A started record is finished before another begins. A `latest` element has at most one queued value: a newer one
/// replaces it in place. An ordered dictionary in place of ``items`` and ``positions`` took three times as long, and 20 µs
/// to take a value before 100,000 others.
struct OutputQueue {
    /// Data for the machine.
    struct Item {
        /// The bytes of a DATA record, or a part of them.
        var bytes: [UInt8]
        /// The element, if only its newest value counts.
        var latest: Int8?
        /// Whether it may share a record with others.
        var sharesRecord: Bool
        /// When it was queued.
        var time: NIODeadline
    }

    /// Counters of the queue.
    struct Counts: Equatable {
        /// Records whose last byte was written to the line.
        var records: UInt32 = 0
        /// Values replaced by newer ones.
        var replaced: UInt32 = 0
        /// Items and answers dropped because the queue was full.
        var dropped: UInt32 = 0
    }

    /// The limit of queued answers, in bytes: with more, the machine cannot have waited for any of them.
    static let maximumAnswerByteCount = 1024
    /// The limit of queued data, in bytes.
    static let maximumByteCount = 4 * 1024 * 1024
    /// The maximum bytes of a record with several values. A longer one would delay answers and newer values.
    static let sharedRecordByteCount = 40

    private var answers: [[UInt8]] = []
    private var answerByteCount = 0
    private var items: Deque<Item> = []
    /// Items that have left ``items``, so that positions count on.
    private var removedCount = 0
    /// The position of the queued value of a `latest` element.
    private var positions: [Int8: Int] = [:]
    /// The queued bytes of ``items``.
    private(set) var byteCount = 0
    /// The total of bytes ever added to ``items``, without replaced ones.
    private(set) var addedByteCount = 0
    /// The record being sent, and how much of it has been sent.
    private var record: [UInt8] = []
    private var sentCount = 0
    private var recordTime: NIODeadline?

    private(set) var counts = Counts()
    /// How long the last data record was queued, from its oldest value's arrival until its last byte was sent.
    private(set) var delay = TimeAmount.zero

    /// Whether nothing waits.
    var isEmpty: Bool { sentCount == record.count && answers.isEmpty && items.isEmpty }

    /// - Returns: whether there was room.
    @discardableResult
    mutating func append(answer: [UInt8]) -> Bool {
        guard answerByteCount + answer.count <= Self.maximumAnswerByteCount else {
            counts.dropped &+= 1
            return false
        }
        answers.append(answer)
        answerByteCount += answer.count
        return true
    }

    /// - Returns: whether there was room.
    mutating func append(_ item: Item) -> Bool {
        if let id = item.latest, let position = positions[id] {
            let index = position - removedCount
            byteCount += item.bytes.count - items[index].bytes.count
            addedByteCount += item.bytes.count - items[index].bytes.count
            items[index].bytes = item.bytes
            counts.replaced &+= 1
            return true
        }
        guard byteCount + item.bytes.count <= Self.maximumByteCount else {
            counts.dropped &+= 1
            return false
        }
        if let id = item.latest { positions[id] = removedCount + items.count }
        items.append(item)
        byteCount += item.bytes.count
        addedByteCount += item.bytes.count
        return true
    }

    /// Takes the next bytes for the line, at most `count`.
    mutating func take(_ count: Int, at now: NIODeadline) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            if sentCount == record.count, !beginRecord() { break }
            let part = record[sentCount..<min(record.count, sentCount + count - bytes.count)]
            bytes += part
            sentCount += part.count
            if sentCount == record.count {
                counts.records &+= 1
                if let time = recordTime { delay = now - time }
            }
        }
        return bytes
    }

    private mutating func beginRecord() -> Bool {
        sentCount = 0
        if !answers.isEmpty {
            record = answers.removeFirst()
            answerByteCount -= record.count
            recordTime = nil
            return true
        }
        guard let first = takeItem() else {
            record = []
            return false
        }
        var payload = first.bytes
        recordTime = first.time
        while first.sharesRecord, let next = items.first, next.sharesRecord,
            payload.count + next.bytes.count <= Self.sharedRecordByteCount
        {
            payload += takeItem()?.bytes ?? []
        }
        record = ModemResult.data(payload).bytes
        return true
    }

    private mutating func takeItem() -> Item? {
        guard let item = items.popFirst() else { return nil }
        if let id = item.latest { positions[id] = nil }
        byteCount -= item.bytes.count
        removedCount += 1
        return item
    }

    /// Drops the queued data; a started record is finished.
    ///
    /// - Returns: the number of dropped items.
    mutating func removeData() -> Int {
        defer {
            removedCount += items.count
            items.removeAll()
            positions.removeAll()
            byteCount = 0
        }
        return items.count
    }

    /// Drops everything, including the rest of a started record.
    ///
    /// - Returns: the number of dropped items.
    mutating func removeAll() -> Int {
        answers.removeAll()
        answerByteCount = 0
        record = []
        sentCount = 0
        return removeData()
    }
}
