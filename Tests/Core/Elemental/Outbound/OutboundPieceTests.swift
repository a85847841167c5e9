import ElementalWire
import Foundation
import Testing

@testable import Elemental

/// Large values that go in pieces.
struct OutboundPieceTests {
    typealias Fixture = OutboundFixture

    private func large(_ count: Int, _ byte: UInt8 = 1) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    private let piece = SystemElement.piece.rawValue
    /// Pieces of a large value that are sent before one is acknowledged.
    private let windowCount = Piece.windowByteCount / Piece.sentByteCount

    /// The identifiers of the pieces of a value of so many bytes.
    private func pieces(of count: Int) -> [Int8] {
        [Int8](repeating: piece, count: (count + Piece.sentByteCount - 1) / Piece.sentByteCount)
    }

    @Test
    func aPieceFollowsEachSegmentOfOtherValues() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, large(200_000))
        // More than one segment of small values.
        for _ in 0..<5 { try machine.send(Fixture.other, large(30_000, 2)) }
        var order: [Int8] = []
        while case .write(var segment, _) = machine.nextStreamStep(written: 0) {
            var bytes: [UInt8] = []
            while !segment.isComplete { bytes += Array(buffer: segment.takePiece()) }
            order.append(OutboundMessage.all(in: bytes)[0].id)
        }
        #expect(order.prefix(5) == [piece, 2, piece, 2, piece] || order.prefix(5) == [2, piece, 2, piece, 2])
        #expect(order.filter { $0 == piece }.count == windowCount)
        #expect(machine.messagesWaiting == 1)
    }

    @Test
    func aValueDoesNotOvertakeALargeOneOfItsElement() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        try machine.send(Fixture.plain, large(150_000))
        try machine.send(Fixture.plain, [2])
        try machine.send(Fixture.other, [3])
        let written = machine.writeAllAcknowledged()
        #expect(written.map(\.id) == [1, 2] + pieces(of: 150_000) + [1])
        #expect(written.last?.value == [2])
    }

    @Test
    func pastTheWindowPiecesWaitForAcknowledgements() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, large(1_000_000))
        #expect(machine.writeAll().count == windowCount)
        #expect(machine.stream.flush == .idle)
        #expect(machine.isStreamUnsent)
        let progress = try unwrap(machine.pieces?.acknowledge(50_000))
        #expect(progress == [PieceAssembler.Progress(id: 1, byteCount: 50_000, total: 1_000_000)])
        #expect(machine.writeAll().count == 1)
        // More than was sent, and less than before, which is more modulo 2^32.
        #expect(machine.pieces?.acknowledge(400_000) == nil)
        #expect(machine.pieces?.acknowledge(49_999) == nil)
        var taken: UInt32 = 50_000
        while machine.messagesWaiting > 0 {
            taken += UInt32(Piece.sentByteCount)
            _ = try unwrap(machine.pieces?.acknowledge(taken))
            #expect(!machine.writeAll().isEmpty)
        }
        #expect(!machine.isMet(.nothingUnsent))
        _ = machine.pieces?.acknowledge(1_000_000)
        #expect(machine.isMet(.nothingUnsent))
    }

    @Test
    func aPausedDeviceSendsWithoutAcknowledgements() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, large(1_000_000))
        #expect(machine.writeAll().count == windowCount)
        machine.isPaused = true
        #expect(machine.writeAll().count == pieces(of: 1_000_000).count - windowCount)
        #expect(machine.isMet(.nothingUnsent))
    }

    @Test
    func anOlderPeerGetsLargeValuesWhole() throws {
        var machine = Fixture.opened(pieces: false)
        try machine.send(Fixture.plain, large(200_000))
        #expect(machine.writeAll() == [OutboundMessage(1, large(200_000))])
    }

    @Test
    func aLargeLatestValueIsReplacedUntilItBegins() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.latest, large(200_000, 1))
        try machine.send(Fixture.latest, large(200_000, 2))
        guard case .write = machine.nextStreamStep(written: 0) else { return #expect(Bool(false), "nothing to write") }
        // It is under way: the newer one follows it.
        try machine.send(Fixture.latest, [3])
        #expect(machine.counts.messagesReplaced == 1)
        let written = machine.writeAllAcknowledged()
        #expect(written.dropLast().allSatisfy { $0.id == piece && $0.value.last == 2 })
        #expect(written.last == OutboundMessage(3, [3]))
    }

    @Test
    func theShutdownIsTheLastFrame() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, large(150_000))
        try machine.send(Fixture.latest, [1])
        machine.close(Fixture.reason, willReconnect: false)
        [9].withUnsafeBytes { machine.appendSystem(.shutdown, UnsafeRawBufferPointer(rebasing: $0[..<1])) }
        let written = machine.writeAllAcknowledged()
        #expect(written.map(\.id) == [3] + pieces(of: 150_000) + [SystemElement.shutdown.rawValue])
    }
}
