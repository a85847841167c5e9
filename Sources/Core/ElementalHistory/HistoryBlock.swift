internal import ElementalWire
import Support

/// The encoded form of a block in a history's file: `length UInt32 · CRC-32 of the rest UInt32 · kind UInt8 · payload`.
/// A file begins with a head. Numbers are little-endian.
enum HistoryBlock {
    /// The element and the life of its history that the following blocks belong to.
    case head(HistoryHead)
    /// Values with consecutive numbers. A block that directly continues the one before it stores no number.
    case values(HistoryRecords)
    /// The highest number that the life may have assigned, and the microseconds to add to the machine's clock for the
    /// time since 1970, 0 if unknown.
    case mark(lastPossible: UInt64, anchor: Int64)

    /// The bytes before the payload.
    static let headerByteCount = 9
    /// A longer block is damaged.
    private static let maximumPayloadByteCount = 2 * HistoryLimits.maximumValueByteCount

    /// - Parameter last: the end of the file's last values. Values that directly continue them are encoded shorter.
    func bytes(behind last: HistoryRecords.End?) -> [UInt8] {
        var payload: [UInt8] = []
        switch self {
        case .head(let head):
            payload.append(1)
            head.append(to: &payload)
        case .values(let records) where last == HistoryRecords.End(number: records.first, began: records.began):
            payload = [4] + records.bytes
        case .values(let records):
            payload.append(2)
            payload.append(littleEndian: records.first)
            payload.append(littleEndian: records.began)
            payload += records.bytes
        case .mark(let number, let anchor):
            payload.append(3)
            payload.append(littleEndian: number)
            payload.append(littleEndian: anchor)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + payload.count)
        bytes.append(littleEndian: UInt32(payload.count))
        bytes.append(littleEndian: payload.withUnsafeBytes { Self.checksum($0) })
        return bytes + payload
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = CRC32()
        checksum.add(bytes)
        return checksum.value
    }

    struct Content {
        var blocks: [HistoryBlock] = []
        /// The length of the intact blocks; the rest of the file is damaged.
        var byteCount = 0
        /// Whether the next block has a correct checksum but is of a kind that this version does not know.
        var isNewer = false
    }

    /// Reads the blocks of a file up to the first damaged one.
    static func read(_ file: [UInt8]) -> Content {
        var content = Content()
        var last: HistoryRecords.End?
        file.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            while let length = reader.uint32(), 0 < length, length <= maximumPayloadByteCount,
                let check = reader.uint32(),
                let payload = reader.bytes(Int(length)), checksum(payload) == check
            {
                guard let block = Self(payload, behind: last) else {
                    content.isNewer = true
                    return
                }
                if case .head = block {} else if content.blocks.isEmpty { return }
                if case .values(let records) = block { last = HistoryRecords.End(records) }
                content.blocks.append(block)
                content.byteCount = bytes.count - reader.remaining.count
            }
        }
        return content
    }

    /// Reads a payload; `nil` if it is malformed.
    private init?(_ payload: UnsafeRawBufferPointer, behind last: HistoryRecords.End?) {
        var reader = ByteReader(payload)
        switch reader.uint8() {
        case 1:
            guard let head = HistoryHead(&reader), reader.isAtEnd else { return nil }
            self = .head(head)
        case 2:
            guard let first = reader.uint64(), let began = reader.uint64(),
                let records = HistoryRecords(first, began: Int64(bitPattern: began), Array(reader.remaining))
            else { return nil }
            self = .values(records)
        case 3:
            guard let number = reader.uint64(), number < HistoryRecords.maximumNumber, let anchor = reader.uint64(),
                reader.isAtEnd, Int64(bitPattern: anchor).magnitude < HistoryRecords.maximumNumber
            else { return nil }
            self = .mark(lastPossible: number, anchor: Int64(bitPattern: anchor))
        case 4:
            guard let last, let records = HistoryRecords(last.number, began: last.began, Array(reader.remaining)) else {
                return nil
            }
            self = .values(records)
        default: return nil
        }
    }
}

/// The header of the values that follow in a file.
struct HistoryHead: Hashable {
    /// The length of a boot's identifier.
    private static let startByteCount = 16

    let key: ServiceHistories.Key
    let life: HistoryLife
    /// Whether the previous life assigned every number below ``first``.
    let isContinuation: Bool
    /// The number of the first value that follows.
    let first: UInt64
    /// Identifies the boot whose clock the values' times use.
    let start: [UInt8]

    init(_ key: ServiceHistories.Key, _ life: HistoryLife, isContinuation: Bool, first: UInt64, start: [UInt8]) {
        (self.key, self.life, self.isContinuation, self.first) = (key, life, isContinuation, first)
        self.start = start
    }

    init?(_ reader: inout ByteReader) {
        guard reader.uint8() == 1, let life = HistoryLife(&reader), let flags = reader.uint8(),
            let first = reader.uint64(), 0 < first, first < HistoryRecords.maximumNumber,
            let start = reader.bytes(Self.startByteCount), let id = reader.uint8(), let id = Int8(exactly: id),
            let type = reader.uint8().flatMap({ ElementType(rawValue: $0) }),
            let readers = reader.uint8().flatMap({ Role(code: $0) }), let length = reader.uint16(),
            let name = reader.bytes(Int(length)).flatMap({ String(validating: $0, as: UTF8.self) })
        else { return nil }
        self.init(
            ServiceHistories.Key(id: id, type: type, name: name, readers: readers), life,
            isContinuation: flags & 1 != 0, first: first, start: Array(start))
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(1)
        bytes.append(littleEndian: life.first)
        bytes.append(littleEndian: life.second)
        bytes.append(isContinuation ? 1 : 0)
        bytes.append(littleEndian: first)
        bytes += start
        bytes += [UInt8(bitPattern: key.id), key.type.rawValue, key.readers.code]
        let name = Array(key.name.utf8)
        bytes.append(littleEndian: UInt16(name.count))
        bytes += name
    }
}

/// Values with consecutive numbers, one after the other, each preceded by a ``HistoryHeader``.
struct HistoryRecords {
    /// A bound that keeps numbers from overflowing.
    static let maximumNumber: UInt64 = 1 << 62

    let first: UInt64
    /// The number after the last value.
    let end: UInt64
    /// When the values' segment began, in milliseconds.
    let began: Int64
    let bytes: [UInt8]

    init(first: UInt64, end: UInt64, began: Int64, bytes: [UInt8]) {
        (self.first, self.end, self.began, self.bytes) = (first, end, began, bytes)
    }

    /// The end of a sequence of values.
    struct End: Hashable {
        /// The number after the last value.
        let number: UInt64
        let began: Int64

        init(number: UInt64, began: Int64) { (self.number, self.began) = (number, began) }

        init(_ records: HistoryRecords) { self.init(number: records.end, began: records.began) }
    }

    /// Reads values from a file; `nil` if the last one is incomplete or a number is out of range.
    init?(_ first: UInt64, began: Int64, _ bytes: [UInt8]) {
        var count: UInt64 = 0
        let isWhole = bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                guard offset + HistoryHeader.byteCount <= bytes.count else { return false }
                offset += HistoryHeader(bytes, at: offset).size
                count += 1
            }
            return offset == bytes.count
        }
        guard isWhole, count > 0, 0 < first, first < Self.maximumNumber, began.magnitude < 1 << 53 else { return nil }
        self.init(first: first, end: first + count, began: began, bytes: bytes)
    }

    func forEach(_ body: (HistoryHeader, UnsafeRawBufferPointer?) -> Void) {
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let header = HistoryHeader(bytes, at: offset)
                let value = bytes[(offset + HistoryHeader.byteCount)..<(offset + header.size)]
                body(header, header.isOmitted ? nil : UnsafeRawBufferPointer(rebasing: value))
                offset += header.size
            }
        }
    }
}
