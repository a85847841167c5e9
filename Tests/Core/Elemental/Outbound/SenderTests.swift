import ElementalWire
import Foundation
import NIOCore
import NIOEmbedded
import Support
import TestSupport
import Testing

@testable import Elemental

/// How a device's queues are written, without a socket.
struct SenderTests {
    private let label = Lamp.label.definition
    private let level = Lamp.level.definition

    @Test
    func whatIsQueuedLeavesInOneWrite() throws {
        let line = try EmbeddedSender()
        line.sender.queue(.ping, [1, 2])
        line.queue(label, [3])
        line.sender.flush()
        let writes = try line.takeWrites()
        #expect(writes.map(OutboundMessage.all) == [[OutboundMessage(-6, [1, 2]), OutboundMessage(3, [3])]])
        #expect(line.sender.writtenByteCount == writes.joined().count)
        #expect(line.sender.acknowledgedByteCount == line.sender.writtenByteCount)
        #expect(line.flushes == [.room])
        #expect(!line.sender.isStreamUnsent)
    }

    @Test
    func aFullSocketGetsTheRestOnceItTakesBytesAgain() throws {
        let line = try EmbeddedSender()
        line.isHeldBack = true
        line.queue(label, [1])
        line.sender.flush()
        line.queue(label, [2])
        line.queue(label, [3])
        line.sender.flush()
        #expect(line.heldCount == 1)
        #expect(line.flushes.allSatisfy { $0.contains(.stream) })
        #expect(line.sender.isStreamUnsent)
        #expect(line.sender.writtenByteCount == 0)
        line.isHeldBack = false
        #expect(try line.takeMessages() == [OutboundMessage(3, [1]), OutboundMessage(3, [2]), OutboundMessage(3, [3])])
        #expect(line.flushes.last?.contains(.stream) == false)
        #expect(line.sender.writtenByteCount == 18)
    }

    @Test
    func aFullSocketGetsALongValueInParts() throws {
        let line = try EmbeddedSender()
        let value = Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0) })
        line.device.outbound.withLock { $0.appendCurrent(Lamp.blob.id, long: value) }
        line.isHeldBack = true
        line.sender.flush()
        var writes: [[UInt8]] = []
        while line.heldCount > 0 {
            #expect(line.heldCount == 1)
            line.releaseFirst()
            writes += try line.takeWrites()
        }
        // The first has the header too.
        #expect(writes.map(\.count) == [5 + 16_384, 16_384, 40_000 - 2 * 16_384])
        #expect(OutboundMessage.all(in: Array(writes.joined())) == [OutboundMessage(4, Array(value))])
        #expect(!line.sender.isStreamUnsent)
    }

    @Test
    func aPipelineWithRoomIsNotWaitedFor() throws {
        let line = try EmbeddedSender(isPlain: false)
        line.isHeldBack = true
        for number in 1...3 as ClosedRange<UInt8> {
            line.queue(label, [number])
            line.sender.flush()
            #expect(line.heldCount == Int(number))
            #expect(!line.sender.isStreamUnsent)
        }
        #expect(line.sender.writtenByteCount == 18)
        line.channel.isWritable = false
        for number in 4...6 as ClosedRange<UInt8> {
            line.queue(label, [number])
            line.sender.flush()
            #expect(line.heldCount == 4)
            #expect(line.sender.isStreamUnsent)
        }
        #expect(line.sender.writtenByteCount == 18)
        line.isHeldBack = false
        #expect(try line.takeMessages() == (1...6).map { OutboundMessage(3, [$0]) })
        #expect(line.sender.writtenByteCount == 36)
        #expect(!line.sender.isStreamUnsent)
    }

    @Test
    func aPipelineGetsALongValueInParts() throws {
        let line = try EmbeddedSender(isPlain: false)
        let value = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        line.device.outbound.withLock { $0.appendCurrent(Lamp.blob.id, long: value) }
        line.sender.flush()
        let writes = try line.takeWrites()
        #expect(writes.map(\.count) == [5 + 65_536, 100_000 - 65_536])
        #expect(OutboundMessage.all(in: Array(writes.joined())) == [OutboundMessage(4, Array(value))])
        #expect(!line.sender.isStreamUnsent)
    }

    @Test
    func nothingIsWrittenAfterItWasStopped() throws {
        let line = try EmbeddedSender()
        #expect(line.sender.stop() == 0)
        line.queue(label, [1])
        line.sender.flush()
        #expect(try line.takeWrites().isEmpty)
        #expect(line.sender.isStreamUnsent)
    }

    @Test
    func stoppingInAValueLosesIt() throws {
        let line = try EmbeddedSender()
        line.device.outbound.withLock { $0.appendCurrent(Lamp.blob.id, long: Data(count: 40_000)) }
        line.isHeldBack = true
        line.sender.flush()
        #expect(line.sender.stop() == 1)
        #expect(line.sender.stop() == 0)
        let flushCount = line.flushes.count
        line.isHeldBack = false
        #expect(try line.takeWrites().count == 1)
        #expect(line.flushes.count == flushCount)
    }

    @Test
    func aChannelThatIsGoneTakesNothing() throws {
        let line = try EmbeddedSender()
        line.channel.close(promise: nil)
        line.queue(label, [1])
        line.sender.flush()
        #expect(line.flushes.count == 1)
        #expect(line.sender.isStreamUnsent)
        #expect(line.sender.writtenByteCount == 0)
    }

    @Test
    func afterABurstValuesAreGatheredForAShortTime() throws {
        let line = try EmbeddedSender()
        for _ in 0..<256 { line.queue(level, [1, 0, 0, 0]) }
        line.sender.flush()
        #expect(try line.takeMessages().count == 256)
        line.queue(level, [2, 0, 0, 0])
        line.loop.advanceTime(by: .microseconds(199))
        #expect(try line.takeMessages().isEmpty)
        line.queue(level, [3, 0, 0, 0])
        line.loop.advanceTime(by: .microseconds(1))
        #expect(try line.takeMessages() == [OutboundMessage(5, [2, 0, 0, 0]), OutboundMessage(5, [3, 0, 0, 0])])
        // The next value does not wait.
        #expect(line.device.outbound.withLock { $0.stream.flush } == .idle)
    }

    @Test
    func sendersThatWaitAreResumedWhenThereIsRoom() async throws {
        let resumed = Outcome<ElementalError?>()
        try {
            let line = try EmbeddedSender()
            line.isHeldBack = true
            line.queue(label, [1])
            line.device.outbound.withLock { $0.waiters[1] = RoomWaiter(outcome: resumed, need: .nothingUnsent) }
            line.sender.flush()
            #expect(line.device.outbound.withLock { $0.waiters.count } == 1)
            line.isHeldBack = false
            #expect(line.device.outbound.withLock { $0.waiters.isEmpty })
        }()
        // Has no effect on a sender that was resumed.
        resumed.resolve(ElementalError(.timedOut, "it was not resumed"))
        let error = try #require(await resumed.value())
        #expect(error == nil)
    }

    // MARK: Pieces

    @Test
    func piecesAreAcknowledgedOncePerFlushWithTheirTotal() throws {
        let line = try EmbeddedSender()
        line.sender.noteTaken(5)
        line.sender.noteTaken(7)
        line.sender.flush()
        line.sender.flush()
        #expect(try line.takeMessages() == [OutboundMessage(-9, [12, 0, 0, 0])])
        line.sender.noteTaken(Int(UInt32.max) - 10)
        line.sender.flush()
        #expect(try line.takeMessages() == [OutboundMessage(-9, [1, 0, 0, 0])])
    }

    @Test
    func anAcknowledgementWaitsForRoom() throws {
        let line = try EmbeddedSender { $0.maximumQueueByteCount = 20 }
        line.isHeldBack = true
        line.sender.queue(.ping, [1])
        line.sender.flush()
        line.sender.queue(.ping, Array(repeating: 2, count: 8))
        line.sender.noteTaken(5)
        line.sender.flush()
        line.isHeldBack = false
        #expect(try line.takeMessages().map(\.id) == [-6, -6])
        line.sender.flush()
        #expect(try line.takeMessages() == [OutboundMessage(-9, [5, 0, 0, 0])])
    }

    @Test
    func acknowledgementsOfThePeerAreProgress() throws {
        let line = try EmbeddedSender()
        let told = Transcript<Int>()
        line.device.onProgress { progress, _ in
            #expect(progress.direction == .outgoing && progress.totalByteCount == 200_000)
            told.add(progress.byteCount)
        }
        line.device.outbound.withLock { outbound in
            outbound.peer.pieces = true
            outbound.appendCurrent(Lamp.blob.id, long: Data(count: 200_000))
        }
        line.sender.flush()
        func acknowledge(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(line.sender.receiveAck) }
        func acknowledge(_ count: UInt32) -> Bool { acknowledge(withUnsafeBytes(of: count.littleEndian, Array.init)) }
        #expect(acknowledge(100_000))
        line.sender.flush()
        #expect(!acknowledge(200_001))
        #expect(!acknowledge([1, 2, 3]))
        #expect(acknowledge(200_000))
        #expect(told.all == [100_000, 200_000])
    }

    // MARK: Datagrams

    /// Two ends of a socket that keeps what does not fit, as no UDP socket on loopback does.
    private func withSocketPair(_ body: (_ own: CInt, _ far: CInt) throws -> Void) throws {
        var ends: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        try body(ends[0], ends[1])
    }

    private func queueDatagram(_ line: EmbeddedSender, _ value: [UInt8]) {
        value.withUnsafeBytes { value in
            line.device.outbound.withLock { outbound in
                outbound.setDatagramState(.open(udpIdentifier: 7))
                outbound.appendSystem(.ping, over: .udp, value)
            }
        }
    }

    @Test
    func datagramsWaitForASocket() throws {
        try withSocketPair { own, far in
            let line = try EmbeddedSender()
            queueDatagram(line, [1])
            line.sender.flush()
            #expect(line.flushes.last?.contains(.datagrams) == true)
            line.sender.datagramSink = DatagramSink(DatagramSocket(line.channel, descriptor: own), to: nil)
            line.sender.flush()
            #expect(receive(far)?.last == 1)
            line.sender.flush()
            #expect(line.flushes.last?.contains(.datagrams) == false)
        }
    }

    @Test
    func aFullDatagramSocketIsTriedAgainSoon() throws {
        try withSocketPair { own, far in
            var filler = 0
            while send(own, &filler, 1, 0) == 1 {}
            let line = try EmbeddedSender()
            line.sender.datagramSink = DatagramSink(DatagramSocket(line.channel, descriptor: own), to: nil)
            queueDatagram(line, [1])
            line.sender.flush()
            #expect(line.device.outbound.withLock { $0.datagrams.restMessageCount != nil })
            while receive(far) != nil {}
            line.loop.advanceTime(by: .microseconds(999))
            #expect(receive(far) == nil)
            line.loop.advanceTime(by: .microseconds(1))
            #expect(receive(far)?.last == 1)
            #expect(line.device.statistics.datagramsDropped == 0)
        }
    }

    @Test
    func aDatagramThatTheSystemRefusesIsCounted() throws {
        let line = try EmbeddedSender()
        let closed = EmbeddedChannel(loop: line.loop)
        _ = try closed.finish()
        line.sender.datagramSink = DatagramSink(DatagramSocket(closed), to: nil)
        queueDatagram(line, [1])
        line.sender.flush()
        #expect(line.device.statistics.datagramsDropped == 1)
        #expect(line.device.outbound.withLock { $0.datagrams.isEmpty })
    }

    private func receive(_ descriptor: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count >= 0 ? Array(bytes[..<count]) : nil
    }
}
