import DequeModule
import ElementalWire
import NIOCore

/// Large values queued for a peer that accepts them in pieces, one after the other, and the values that must not
/// overtake them.
struct PieceQueue {
    private struct Entry {
        let id: Int8
        /// The frame's identifier: the element's, or the system's for a value with its time.
        let wireID: Int8
        /// Whether this is a value, and not a message of the system.
        let isValue: Bool
        let value: Data
        /// How many messages of the stream are sent before it: among them may be earlier ones of its element.
        let start: UInt64
        var offset = 0

        /// Whether it is sent whole: a small value behind a large one of its element, or a frame of the system.
        var isSmall: Bool { wireID != id || value.count <= Envelope.wholeByteCount }
    }

    private struct Unacknowledged {
        let id: Int8
        let total: Int
        var byteCount = 0
    }

    private var entries: Deque<Entry> = []
    private var unacknowledged: Deque<Unacknowledged> = []
    /// The elements of the queued values: a further value of one of them must not overtake.
    private(set) var elements = IdentifierSet()
    /// Queued bytes, including those of the value being sent.
    private(set) var byteCount = 0
    private var sentByteCount: UInt64 = 0
    private var acknowledgedByteCount: UInt64 = 0

    private(set) var valueCount = 0
    var isEmpty: Bool { entries.isEmpty }
    var isAcknowledged: Bool { unacknowledged.isEmpty }

    /// Whether a piece may be sent now.
    ///
    /// - Parameters:
    ///   - streamCount: messages that were taken from the stream.
    ///   - canReceiveAcks: if not, only TCP holds pieces back.
    func hasSegment(after streamCount: UInt64, canReceiveAcks: Bool) -> Bool {
        guard let first = entries.first, first.start <= streamCount else { return false }
        let size = min(Piece.sentByteCount, first.value.count - first.offset)
        // The acknowledgement wraps at 2^32, so there are never more unacknowledged bytes than that.
        let most = canReceiveAcks ? Piece.windowByteCount : Int(UInt32.max)
        return first.isSmall || Int(sentByteCount - acknowledgedByteCount) + size <= most
    }

    /// Whether a value of `length` bytes may be added. An empty queue accepts any.
    func hasRoom(for length: Int, limit: Int) -> Bool { byteCount == 0 || byteCount + length <= limit }

    /// Adds a value, for which the caller has checked for room.
    ///
    /// - Parameters:
    ///   - id: an element's, or the system's for the last frame of a connection.
    ///   - wireID: the identifier of a small value's frame.
    ///   - isValue: whether it counts as a value, if it is an element's.
    mutating func append(
        _ id: Int8, as wireID: Int8? = nil, isValue: Bool = true, _ value: Data, after start: UInt64
    ) {
        if id >= 0 { elements.insert(id) }
        byteCount += value.count
        let isValue = isValue && id >= 0
        if isValue { valueCount += 1 }
        entries.append(Entry(id: id, wireID: wireID ?? id, isValue: isValue, value: value, start: start))
    }

    /// The next piece. The caller has checked that one may be sent.
    mutating func takeSegment() -> OutboundSegment? {
        guard let first = entries.first else { return nil }
        let (total, isSmall) = (first.value.count, first.isSmall)
        let size = isSmall ? total : min(Piece.sentByteCount, total - first.offset)
        let headerByteCount = Envelope.streamByteCount + (isSmall ? 0 : Piece.headerByteCount)
        var buffer = ByteBuffer()
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: headerByteCount) { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            if isSmall {
                Envelope.writeStreamHeader(id: first.wireID, length: size, to: base)
            } else {
                Piece.writeHeader(id: first.id, total: total, offset: first.offset, byteCount: size, to: base)
            }
            return headerByteCount
        }
        if !isSmall {
            sentByteCount += UInt64(size)
            if first.offset == 0 { unacknowledged.append(Unacknowledged(id: first.id, total: total)) }
        }
        let start = first.value.startIndex + first.offset
        let long = first.value[start..<start + size]
        entries[entries.startIndex].offset += size
        byteCount -= size
        let isLast = first.offset + size == total
        if isLast {
            entries.removeFirst()
            if first.isValue { valueCount -= 1 }
            if first.id >= 0, !entries.contains(where: { $0.id == first.id }) { elements.remove(first.id) }
        }
        let count = isLast ? 1 : 0
        return OutboundSegment(buffer, long: long, messageCount: count, systemCount: first.isValue ? 0 : count)
    }

    /// - Parameter count: the bytes of pieces that the peer has received since the connection began, modulo 2^32.
    /// - Returns: the progress of the values that this acknowledges a part of, or `nil` if fewer bytes were sent.
    mutating func acknowledge(_ count: UInt32) -> [PieceAssembler.Progress]? {
        var rest = Int(count &- UInt32(truncatingIfNeeded: acknowledgedByteCount))
        guard rest <= sentByteCount - acknowledgedByteCount else { return nil }
        acknowledgedByteCount += UInt64(rest)
        var progress: [PieceAssembler.Progress] = []
        while rest > 0, let first = unacknowledged.first {
            let size = min(rest, first.total - first.byteCount)
            rest -= size
            let now = first.byteCount + size
            progress.append(PieceAssembler.Progress(id: first.id, byteCount: now, total: first.total))
            if now == first.total {
                unacknowledged.removeFirst()
            } else {
                unacknowledged[unacknowledged.startIndex].byteCount = now
            }
        }
        return progress
    }
}

/// A set of elements' identifiers, 0...127, as plain bits.
package struct IdentifierSet: Sendable {
    private var bits: UInt128 = 0

    package init() {}

    var isEmpty: Bool { bits == 0 }

    @inline(__always)
    package func contains(_ id: Int8) -> Bool { bits & Self.bit(id) != 0 }

    package mutating func insert(_ id: Int8) { bits |= Self.bit(id) }

    package mutating func remove(_ id: Int8) { bits &= ~Self.bit(id) }

    mutating func formUnion(_ other: IdentifierSet) { bits |= other.bits }

    package func forEach(_ body: (Int8) -> Void) {
        var rest = bits
        while rest != 0 {
            body(Int8(rest.trailingZeroBitCount))
            rest &= rest - 1
        }
    }

    @inline(__always)
    private static func bit(_ id: Int8) -> UInt128 { 1 &<< UInt128(truncatingIfNeeded: id) }
}
