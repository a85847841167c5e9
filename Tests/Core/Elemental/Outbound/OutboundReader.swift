import ElementalWire
import Testing

@testable import Elemental

/// The other end of an ``Outbound``: reads what is written, and keeps the numbers of the values, which are their first four bytes.
struct OutboundReader: ~Copyable {
    /// The numbers received, by element.
    private(set) var received: [Int8: [UInt32]] = [:]
    private(set) var receivedCount = 0
    /// Pings that were sent and not read.
    var unreadPings = 0
    private var unread: [UInt8] = []
    private var pieces = PieceAssembler(maximumValueByteCount: 1 << 20)
    private var takenByteCount: UInt32 = 0
    private var acknowledgedByteCount: UInt32 = 0

    /// Whether pieces were read that are not acknowledged.
    var owesAck: Bool { acknowledgedByteCount != takenByteCount }

    /// - Returns: bytes of all pieces read.
    mutating func acknowledge() -> UInt32 {
        acknowledgedByteCount = takenByteCount
        return takenByteCount
    }

    mutating func startAnew() {
        unreadPings = 0
        unread = []
        pieces = PieceAssembler(maximumValueByteCount: 1 << 20)
        takenByteCount = 0
        acknowledgedByteCount = 0
    }

    /// Reads bytes of the stream.
    mutating func read(_ bytes: [UInt8]) {
        unread += bytes
        for message in OutboundMessage.take(from: &unread) {
            guard message.id == SystemElement.piece.rawValue else {
                read(message)
                continue
            }
            takenByteCount &+= UInt32(message.value.count - Piece.headerByteCount)
            var whole: OutboundMessage?
            do {
                try message.value.withUnsafeBytes { bytes in
                    try pieces.take(bytes, progress: { _ in }) { whole = OutboundMessage($0, Array($1.bytes)) }
                }
            } catch {
                Issue.record("\(error)")
            }
            if let whole { read(whole) }
        }
    }

    mutating func read(_ message: OutboundMessage) {
        if message.id == SystemElement.ping.rawValue { unreadPings -= 1 }
        guard message.id >= 0 else { return }
        receivedCount += 1
        let number = (0..<4).reduce(UInt32(0)) { $0 | UInt32(message.value[$1]) << (8 * $1) }
        #expect(message.value.dropFirst(4).allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
        received[message.id, default: []].append(number)
    }
}
