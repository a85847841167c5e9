import Elemental
import NIOCore
import SerialLines

/// The queue of records for the machine: answers first, then data in order.
///
/// A started record is finished before another begins.
struct OutputQueue {
    struct Item: LineQueueItem {
        /// The bytes of a DATA record, or a part of them.
        var bytes: [UInt8]
        /// The element, if only its newest value counts.
        var latest: Int8?
        var sharesRecord = false
        var time: NIODeadline
        var client: ElementalDevice?

        var byteCount: Int { bytes.count }
    }

    struct Counts {
        /// Records whose last byte was written to the line.
        var records: UInt32 = 0
        var replaced: UInt32 = 0
        /// Values that were not sent, and answers for which there was no room.
        var unsent: UInt32 = 0
    }

    /// The maximum of queued answers, in bytes. With more, the machine cannot have waited for any of them.
    static let maximumAnswerByteCount = 1024
    static let maximumByteCount = 4 * 1024 * 1024
    /// The maximum bytes of a record with several values. A longer one would delay answers and newer values.
    static let sharedRecordByteCount = 40

    private var answers: [[UInt8]] = []
    private var answerByteCount = 0
    var items = LineQueue<Item>(maximumByteCount: maximumByteCount)
    /// The record being sent, and how much of it has been sent.
    private var record: [UInt8] = []
    private var sentCount = 0
    private var recordTime: NIODeadline?

    var counts = Counts()
    /// How long the last data record was queued, from its oldest value's arrival until its last byte was sent.
    private(set) var delay = TimeAmount.zero

    var isEmpty: Bool { sentCount == record.count && answers.isEmpty && items.first == nil }

    /// - Returns: whether there was room.
    @discardableResult
    mutating func append(answer: [UInt8]) -> Bool {
        guard answerByteCount + answer.count <= Self.maximumAnswerByteCount else {
            counts.unsent &+= 1
            return false
        }
        answers.append(answer)
        answerByteCount += answer.count
        return true
    }

    /// - Returns: whether there was room.
    mutating func append(_ item: Item) -> Bool {
        var item = item
        let older = items.value(of: item.latest)
        if let older { item.time = older.time }
        guard items.append(item) else {
            counts.unsent &+= 1
            return false
        }
        if older != nil { counts.replaced &+= 1 }
        return true
    }

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
        guard let first = items.popFirst() else {
            record = []
            return false
        }
        var payload = first.bytes
        recordTime = first.time
        while first.sharesRecord, let next = items.first, next.sharesRecord,
            payload.count + next.bytes.count <= Self.sharedRecordByteCount
        {
            payload += next.bytes
            items.popFirst()
        }
        record = ModemResult.data(payload).bytes
        return true
    }

    /// Drops the queued data; a started record is finished.
    mutating func removeData() { counts.unsent &+= UInt32(truncatingIfNeeded: items.removeAll().count) }

    /// Drops everything, including the rest of a started record.
    mutating func removeAll() {
        answers.removeAll()
        answerByteCount = 0
        record = []
        sentCount = 0
        removeData()
    }
}
