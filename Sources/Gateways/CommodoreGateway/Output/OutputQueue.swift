import NIOCore

/// What waits to go to the machine, record by record: answers first, then data in order.
///
/// A record that has begun is finished before another begins. Of a `latest` element one value waits at most: a newer
/// one takes its place in the queue.
struct OutputQueue {
    /// Data for the machine.
    struct Item {
        /// The bytes of a DATA record, or a part of them.
        var bytes: [UInt8]
        /// The element of which only the newest value counts.
        var latest: Int8?
        /// Whether others may go in the same record.
        var sharesRecord: Bool
        /// When it came.
        var time: NIODeadline
    }

    /// What went so far.
    struct Counts: Equatable {
        /// Records whose last byte was handed to the line.
        var records: UInt32 = 0
        /// Values that newer ones replaced.
        var replaced: UInt32 = 0
        /// Items and answers for which there was no room.
        var dropped: UInt32 = 0
    }

    /// Answers that wait, in bytes, beyond which a machine cannot have waited for any of them.
    static let maximumAnswerByteCount = 1024
    /// Data that waits, in bytes.
    static let maximumByteCount = 4 * 1024 * 1024
    /// The bytes of a record that takes in several values. A longer one would keep answers and newer values waiting.
    static let sharedRecordByteCount = 40

    private var answers: [[UInt8]] = []
    private var answerByteCount = 0
    private var items: CircularBuffer<Item> = []
    /// Items that have left ``items``, so that positions count on.
    private var removedCount = 0
    /// Where the waiting value of a `latest` element is.
    private var positions: [Int8: Int] = [:]
    /// The bytes of ``items`` that wait.
    private(set) var byteCount = 0
    /// The bytes that were ever added to ``items``, replaced ones not counted.
    private(set) var addedByteCount = 0
    /// The record being sent, and how much of it has been sent.
    private var record: [UInt8] = []
    private var sentCount = 0
    private var recordTime: NIODeadline?

    private(set) var counts = Counts()
    /// How long the last data record waited, from its oldest value's arrival until its last byte was handed on.
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
            let index = items.index(items.startIndex, offsetBy: position - removedCount)
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

    /// Drops the data that waits; a record that has begun is finished.
    ///
    /// - Returns: how many items that were.
    mutating func removeData() -> Int {
        defer {
            removedCount += items.count
            items.removeAll()
            positions.removeAll()
            byteCount = 0
        }
        return items.count
    }

    /// Drops everything, the rest of a record that has begun included.
    ///
    /// - Returns: how many items that were.
    mutating func removeAll() -> Int {
        answers.removeAll()
        answerByteCount = 0
        record = []
        sentCount = 0
        return removeData()
    }
}
