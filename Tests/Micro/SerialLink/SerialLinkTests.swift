import Foundation
import TestSupport
import Testing

@testable import SerialLink

struct SerialLinkTests {
    @Test("a full line carries at least 85 % of its bytes as the session's", arguments: [0, 1, 4])
    func efficiency(latency: Int) {
        let line = SimulatedLink(seed: 1)
        line.aToB.latency = latency
        line.bToA.latency = latency
        line.b.writes = false
        line.run(10_000)
        let carried = line.b.receivedCount
        let possible = 10_000 * SimulatedLink.bytesPerMillisecond
        #expect(Double(carried) >= 0.88 * possible, "\(carried) of \(possible) bytes")
        #expect(Double(carried) >= 0.88 * Double(line.aToB.byteCount))
        let repeated = line.a.link.repeatedPacketCount
        #expect(repeated == 0)
        #expect(line.violations.isEmpty)
    }

    @Test("with a larger window both directions are full at once")
    func bothWays() {
        let line = SimulatedLink(
            seed: 1, SerialLink.Configuration(packetByteCount: 128, windowByteCount: 1024, sendByteCount: 1024))
        line.run(10_000)
        for end in [line.a, line.b] {
            #expect(Double(end.receivedCount) >= 0.85 * 10_000 * SimulatedLink.bytesPerMillisecond)
        }
        #expect(line.violations.isEmpty)
    }

    @Test("nothing is lost or doubled on a line that drops, doubles and flips", arguments: [0.001, 0.01, 0.03])
    func faults(probability: Double) {
        for seed in 1...max(1, Self.seedCount / 7) {
            let line = SimulatedLink(seed: seed)
            line.aToB.faults = .each(probability)
            line.bToA.faults = .each(probability)
            line.aToB.latency = 2
            line.bToA.latency = 2
            line.run(6000)
            line.aToB.faults = .none
            line.bToA.faults = .none
            #expect(line.settle(within: 2000), "seed \(seed)")
            #expect(line.violations.isEmpty, "seed \(seed): \(line.violations)")
        }
    }

    @Test("one per cent of faulty bytes leaves a line that works")
    func onePerCent() {
        let line = SimulatedLink(seed: 5)
        line.aToB.faults = .each(0.0025)
        line.bToA.faults = .each(0.0025)
        line.b.writes = false
        line.run(20_000)
        #expect(line.violations.isEmpty)
        #expect(line.a.sessionCount == 1)
        #expect(line.b.receivedCount > 20_000)
    }

    /// More seeds: ELEMENTAL_SERIAL_SEEDS=150.
    private static let seedCount =
        ProcessInfo.processInfo.environment["ELEMENTAL_SERIAL_SEEDS"].flatMap(UInt64.init) ?? 30

    @Test("whatever happens to the line and its ends, once it is quiet all is there")
    func anything() {
        for seed in 1...max(1, Self.seedCount) {
            // Clocks that wrap within the run.
            let line = SimulatedLink(seed: seed, clockOffset: UInt32.max - 2000)
            var random = SeededGenerator(seed: seed &* 77)
            let probability = [0, 0.001, 0.01, 0.03][random.number(0...3)]
            line.aToB.latency = random.number(0...20)
            line.bToA.latency = random.number(0...20)
            line.a.pace = [1, 20, Int.max][random.number(0...2)]
            for _ in 0..<random.number(1...6) {
                line.aToB.faults = .each(probability)
                line.bToA.faults = .each(probability)
                line.run(random.number(1...1500))
                switch random.number(0...5) {
                case 0: line.resetA()
                case 1: line.resetB()
                case 2:
                    line.resetA()
                    line.resetB()
                case 3:
                    let flood = (0..<random.number(1...5000)).map { _ in UInt8(random.number(0...255)) }
                    line.aToB.inject(flood, at: line.now)
                    line.bToA.inject(flood, at: line.now)
                case 4:
                    line.resetB()
                    line.bToA.clear()
                    line.bToA.inject("ets Jul 29 2019 12:21:46 rst:0x1\r\n".utf8, at: line.now)
                default: break
                }
            }
            line.aToB.faults = .none
            line.bToA.faults = .none
            #expect(line.settle(within: 3000), "seed \(seed)")
            #expect(line.violations.isEmpty, "seed \(seed): \(line.violations)")
        }
    }

    @Test("a hundred resets in a minute, of a board that always begins with the same number")
    func resets() {
        let line = SimulatedLink(seed: 3)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<100 {
            line.run(random.number(10...1100))
            line.resetB(sameSeed: true)
            line.aToB.latency = random.number(0...5)
        }
        #expect(line.settle(within: 2000))
        #expect(line.violations.isEmpty, "\(line.violations)")
        #expect(line.a.sessionCount >= 90)
    }

    @Test("a receiver that takes nothing stops its sender, and nothing is lost when it goes on")
    func pause() {
        let line = SimulatedLink(seed: 4)
        line.b.writes = false
        line.run(100)
        line.b.link.isReceiving = false
        line.run(500)
        let (received, sent) = (line.b.receivedCount, line.aToB.byteCount)
        line.run(2000)
        #expect(line.b.receivedCount == received)
        #expect(line.aToB.byteCount - sent < 100, "only signs of life")
        // The end of the pause is told, or told again.
        line.bToA.faults = FaultyLine.Faults(drop: 1)
        line.b.link.isReceiving = true
        line.run(10)
        line.bToA.faults = .none
        #expect(line.settle(within: 3000))
        #expect(line.violations.isEmpty)
        #expect(line.a.sessionCount == 1)
    }

    @Test("an end sends no more than the other can hold", arguments: [128, 256, 1024])
    func window(byteCount: Int) {
        let line = SimulatedLink(
            seed: 6, SerialLink.Configuration(packetByteCount: 128, windowByteCount: byteCount, sendByteCount: 4096))
        line.b.writes = false
        line.run(5)
        // The board hangs: it reads nothing for as long as nothing is repeated.
        let sent = line.aToB.byteCount
        line.aToB.faults = FaultyLine.Faults(drop: 1)
        line.run(35)
        #expect(line.a.isOpen)
        #expect(line.aToB.byteCount - sent <= byteCount)
        line.aToB.faults = .none
        #expect(line.settle(within: 3000))
    }

    @Test("a silent end is given up after five seconds, also while the clock wraps")
    func silence() {
        let line = SimulatedLink(seed: 7, clockOffset: UInt32.max - 3000)
        line.run(1000)
        line.bToA.faults = FaultyLine.Faults(drop: 1)
        line.run(4500)
        #expect(line.a.isOpen)
        line.run(600)
        #expect(!line.a.isOpen)
        line.bToA.faults = .none
        #expect(line.settle(within: 1000))
        #expect(line.violations.isEmpty)
    }

    @Test("a quiet session stays open for a day")
    func day() {
        let line = SimulatedLink(seed: 8)
        #expect(line.settle(within: 1000))
        line.skipQuietTime(24 * 3600 * 1000)
        #expect(line.a.sessionCount == 1)
        line.a.writes = true
        line.run(100)
        #expect(line.settle(within: 1000))
        #expect(line.violations.isEmpty)
    }

    @Test("the check is that of Ethernet and zlib")
    func check() {
        let text = Array("123456789".utf8)
        #expect(CRC32.of(text, text.count) == 0xCBF4_3926)
    }

    @Test("a packet comes out of COBS as it went in", arguments: [0, 1, 17, 100, 240, 242])
    func framing(payload: Int) {
        for fill in [0, 1, 255] as [UInt8] {
            var packet = [UInt8](repeating: fill, count: 260)
            let count = Packet.headerByteCount + payload
            let length = packet.withUnsafeMutableBufferPointer {
                Packet.seal($0.baseAddress.unsafelyUnwrapped, bodyByteCount: count)
            }
            #expect(length == Packet.overheadByteCount + payload)
            #expect(packet[..<(length - 1)].allSatisfy { $0 != 0 } && packet[length - 1] == 0)
            let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 254)
            defer { memory.deallocate() }
            var decoder = PacketDecoder(memory: memory, capacity: 254)
            var found: Int?
            for byte in packet[..<length] { if case .body(let count) = decoder.take(byte) { found = count } }
            #expect(found == count + Packet.checkByteCount)
            #expect(Packet.checkedByteCount(memory, found ?? 0) == count)
            #expect((0..<count).allSatisfy { memory[$0] == fill })
        }
    }

    @Test("the first packet is the documentation's, byte for byte")
    func bytes() {
        var link = SerialLink(SerialLink.Configuration(), seed: 1)
        link.ownTag = 0x1234
        var packet: [UInt8] = []
        while let byte = link.nextByte(at: 0) { packet.append(byte) }
        #expect(packet == [0, 5, 1, 1, 0x34, 0x12, 1, 7, 126, 16] + packet[10..<14] + [0])
        let check = [1, 1, 0x34, 0x12, 0, 0, 126, 16] as [UInt8]
        #expect((0..<4).map { UInt8(truncatingIfNeeded: CRC32.of(check, 8) >> (8 * $0)) } == packet[10..<14] + [])
    }
}
