#if !hasFeature(Embedded)
/// A position in an element's history: directly after one of its values.
///
/// A position belongs to one life of the history, which ends with the service's program. Store it as its text.
public struct HistoryPosition: Sendable, Hashable, LosslessStringConvertible {
    /// The number of bytes that ``description`` writes as pairs of digits.
    static let byteCount = 32

    /// 128 random bits.
    package var life: HistoryLife
    /// The value's number, from 1; 0 for the position before all values.
    package var number: UInt64
    /// The value's check, see ``check(_:)``; 0 if unknown.
    package var check: UInt64

    package init(life: HistoryLife, number: UInt64, check: UInt64) {
        (self.life, self.number, self.check) = (life, number, check)
    }

    /// Reads what ``description`` wrote.
    public init?(_ description: String) {
        guard let bytes = description[...].hexadecimalBytes, bytes.count == Self.byteCount else { return nil }
        let position = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return HistoryPosition(&reader)
        }
        guard let position else { return nil }
        self = position
    }

    init?(_ reader: inout ByteReader) {
        guard let life = HistoryLife(&reader), let number = reader.uint64(), let check = reader.uint64() else {
            return nil
        }
        self.init(life: life, number: number, check: check)
    }

    func append(to bytes: inout [UInt8]) {
        for part in [life.first, life.second, number, check] { bytes.append(littleEndian: part) }
    }

    /// 64 hexadecimal digits.
    public var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension HistoryPosition {
    /// The check of a value: the 64-bit FNV-1a hash of its bytes. It is not a secret. It distinguishes a restored
    /// backup from the original history.
    package static func check(_ value: UnsafeRawBufferPointer) -> UInt64 {
        value.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// Values of an element's history that are missing: dropped because of the limits, lost with the service's program, or
/// too long to be kept.
public struct HistoryGap: Sendable, Hashable {
    /// The number of missing values; `nil` if unknown.
    public let count: UInt64?
    /// The maximum number of missing values; `nil` if that is unknown too: the position is not of this history, or the
    /// service was killed while it could not write its files.
    public let maximumCount: UInt64?

    package init(count: UInt64?, maximumCount: UInt64?) {
        (self.count, self.maximumCount) = (count, maximumCount)
    }
}

extension HistoryGap {
    /// Reads the counts of an answer: both 0 if nothing is missing, all bits set for an unknown number.
    init?(_ count: UInt64, _ maximumCount: UInt64) {
        if count == 0, maximumCount == 0 { return nil }
        self.init(count: count == .max ? nil : count, maximumCount: maximumCount == .max ? nil : maximumCount)
    }
}

/// Identifies one history of an element among all others.
package struct HistoryLife: Sendable, Hashable {
    package let first: UInt64
    package let second: UInt64

    /// Creates a random identifier.
    package init() { self.init(first: .random(in: .min ... .max), second: .random(in: .min ... .max)) }

    package init(first: UInt64, second: UInt64) { (self.first, self.second) = (first, second) }

    package init?(_ reader: inout ByteReader) {
        guard let first = reader.uint64(), let second = reader.uint64() else { return nil }
        (self.first, self.second) = (first, second)
    }
}

/// The start of the values that a client requests.
package enum HistoryStart: Sendable, Hashable {
    /// The first value measured at this time, in microseconds of the service's clock, or later.
    case time(Int64)
    /// This many of the newest values.
    case newest(UInt32)
    /// The values after this position.
    case position(HistoryPosition)
}

/// A client's request for values of the past, in the system element ``SystemElement/history``.
///
/// `1 UInt8 · token UInt64 · element Int8 · flags UInt8 · form UInt8`, then for form 1 `time Int64`, for 2 `count
/// UInt32`, for 3 `life, 16 bytes · number UInt64 · check UInt64`.
package struct HistoryRequest: Sendable, Hashable {
    /// The maximum length of a request, in bytes.
    package static let maximumByteCount = 12 + HistoryPosition.byteCount
    static let kind: UInt8 = 1

    /// Identifies the request; the answer repeats it.
    package var token: UInt64
    package var element: Int8
    package var start: HistoryStart
    /// Bit 0 of the flags: if there is no value yet, the service answers with the next one.
    package var waits: Bool
    /// Bit 1 of the flags: cancels the request with this token. Neither request is answered.
    package var isCancelled: Bool

    package init(token: UInt64, element: Int8, from start: HistoryStart, waits: Bool, isCancelled: Bool = false) {
        (self.token, self.element, self.start, self.waits) = (token, element, start, waits)
        self.isCancelled = isCancelled
    }

    /// Reads a frame's value; `nil` if the bytes are malformed.
    package init?(wireBytes bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard reader.uint8() == Self.kind, let token = reader.uint64(), let element = reader.uint8(), element < 0x80,
            let flags = reader.uint8(), let form = reader.uint8()
        else { return nil }
        let start: HistoryStart? =
            switch form {
            case 1: reader.uint64().map { .time(Int64(bitPattern: $0)) }
            case 2: reader.uint32().map { .newest($0) }
            case 3: HistoryPosition(&reader).map { .position($0) }
            default: nil
            }
        guard let start, reader.isAtEnd else { return nil }
        self.init(token: token, element: Int8(element), from: start, waits: flags & 1 != 0, isCancelled: flags & 2 != 0)
    }

    package var wireBytes: [UInt8] {
        var bytes = [Self.kind]
        bytes.append(littleEndian: token)
        bytes += [UInt8(bitPattern: element), (waits ? 1 : 0) | (isCancelled ? 2 : 0)]
        switch start {
        case .time(let time):
            bytes.append(1)
            bytes.append(littleEndian: time)
        case .newest(let count):
            bytes.append(2)
            bytes.append(littleEndian: count)
        case .position(let position):
            bytes.append(3)
            position.append(to: &bytes)
        }
        return bytes
    }
}

/// A service's answer to a ``HistoryRequest``.
///
/// `2 UInt8 · token UInt64 · life, 16 bytes · first UInt64 · next UInt64 · check UInt64 · missing UInt64 · maximum
/// missing UInt64`, then per value `time Int64 · length UInt32 · bytes`; or `3 UInt8 · token UInt64 · reason UInt8`.
package struct HistoryAnswer: Sendable {
    package enum Refusal: UInt8, Sendable {
        /// The element has no history, or the client may not read it.
        case unknown = 1
        /// The client has too many requests that wait for an answer.
        case tooMany = 2
    }

    static let kind: UInt8 = 2
    private static let refusalKind: UInt8 = 3
    /// The bytes before the values.
    package static let headerByteCount = 65
    /// The bytes before a value.
    package static let valueHeaderByteCount = 12
    /// The maximum length of an answer, in bytes: with one value of the maximum length, or with values of
    /// ``fullByteCount`` bytes.
    package static let maximumByteCount =
        headerByteCount + valueHeaderByteCount + max(HistoryLimits.maximumValueByteCount, fullByteCount)
    /// The maximum size of several values in an answer, with their headers. A single value may be larger.
    package static let fullByteCount = 4096
    /// The time of a value that was kept before the machine was started, if its time is unknown.
    package static let unknownTime = Int64.min

    package var token: UInt64
    package var refusal: Refusal?
    package var life: HistoryLife
    /// The number of the answer's first value; ``next`` if it has none.
    package var first: UInt64
    /// The number that the next value will get.
    package var next: UInt64
    /// In an answer without values: the check of the newest value, if that is kept. Otherwise 0.
    package var check: UInt64 = 0
    /// The values that are missing between the requested start and the first value.
    package var gap: HistoryGap?
    /// The values, each preceded by its header.
    package var values: [UInt8]

    package init(token: UInt64, life: HistoryLife, first: UInt64, next: UInt64, values: [UInt8]) {
        self.token = token
        self.life = life
        self.first = first
        self.next = next
        self.values = values
    }

    /// Reads a frame's value; `nil` if the bytes are malformed.
    package init?(wireBytes bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let kind = reader.uint8(), let token = reader.uint64() else { return nil }
        if kind == Self.refusalKind, let reason = reader.uint8(), let refusal = Refusal(rawValue: reason) {
            self.init(token: token, life: HistoryLife(), first: 1, next: 1, values: [])
            self.refusal = refusal
            return
        }
        guard kind == Self.kind, let life = HistoryLife(&reader), let first = reader.uint64(),
            let next = reader.uint64(), let check = reader.uint64(), let missing = reader.uint64(),
            let mostMissing = reader.uint64(),
            // So that numbers never overflow.
            0 < first, first <= next, next < 1 << 62
        else { return nil }
        self.init(token: token, life: life, first: first, next: next, values: [UInt8](reader.remaining))
        self.check = check
        gap = HistoryGap(missing, mostMissing)
        var count: UInt64 = 0
        guard forEach({ _, _ in count += 1 }), count <= next - first,
            count <= 1 || values.count <= Self.fullByteCount
        else { return nil }
    }

    package static func refusal(_ refusal: Refusal, token: UInt64) -> [UInt8] {
        var bytes = [refusalKind]
        bytes.append(littleEndian: token)
        bytes.append(refusal.rawValue)
        return bytes
    }

    package var wireBytes: [UInt8] {
        var bytes = [Self.kind]
        bytes.reserveCapacity(Self.headerByteCount + values.count)
        let missing = gap.map { ($0.count ?? .max, $0.maximumCount ?? .max) } ?? (0, 0)
        for part in [token, life.first, life.second, first, next, check, missing.0, missing.1] {
            bytes.append(littleEndian: part)
        }
        return bytes + values
    }

    package mutating func append(_ value: UnsafeRawBufferPointer, at time: Int64) {
        values.append(littleEndian: time)
        values.append(littleEndian: UInt32(value.count))
        values.append(contentsOf: value)
    }

    /// Calls `body` with the time of measurement, in microseconds of the service's clock, and the bytes of each value.
    ///
    /// - Returns: whether the last value is whole.
    @discardableResult
    package func forEach(_ body: (Int64, UnsafeRawBufferPointer) -> Void) -> Bool {
        values.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            while !reader.isAtEnd {
                guard let time = reader.uint64(), let length = reader.uint32(), let value = reader.bytes(Int(length))
                else { return false }
                body(Int64(bitPattern: time), value)
            }
            return true
        }
    }
}

extension [UInt8] {
    package mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
#endif
