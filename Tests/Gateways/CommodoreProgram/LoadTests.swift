import PETSCII
import TestSupport
import Testing
import VirtualCommodore

@Suite(.enabled(if: CommodoreProgram.isAvailable))
struct LoadTests {
    /// The delay is counted in the machine's own cycles, so it is the same on every computer.
    @Test(arguments: VideoStandard.allCases)
    func theBorderChangesWhenItsRecordHasCome(_ standard: VideoStandard) async throws {
        let bench = try await Bench.connected(standard)
        let unavoidable = 8.0 * 10 / 1200 * Double(standard.cyclesPerSecond)
        var delays: [Double] = []
        for round in 0..<100 {
            // At different times within a picture and a jiffy; with nothing else under way.
            try bench.run(frames: 2 + round % 7)
            bench.commodore.run(cycles: round * 197)
            try bench.run("a quiet line") { $0.commodore.line.pendingByteCount == 0 }
            let colour = UInt8(round % 2)
            bench.set(1, [colour])
            let start = bench.commodore.cycle
            while bench.commodore.borderColour.rawValue != colour {
                bench.commodore.run(cycles: 20)
                try #require(Double(bench.commodore.cycle - start) < 4 * unavoidable)
            }
            delays.append(Double(bench.commodore.cycle - start) / unavoidable)
        }
        let mean = delays.reduce(0, +) / Double(delays.count)
        let seconds = unavoidable / Double(standard.cyclesPerSecond)
        print(
            "\(standard): border after \(mean * seconds * 1000) ms on average, ",
            "\((delays.max() ?? 0) * seconds * 1000) ms at most; the line alone takes \(seconds * 1000) ms")
        #expect(delays.allSatisfy { $0 < 1.2 })
    }

    @Test
    func severalEnvelopesInARecordAreAllTaken() async throws {
        let bench = try await Bench.connected()
        bench.send(3, Bench.envelope(1, [3]) + Bench.envelope(2, [4]) + Bench.envelope(16, [44, 1]))
        try bench.settle()
        #expect(bench.commodore.borderColour == .cyan && bench.commodore.backgroundColour == .purple)
        #expect(bench.commodore[0xD000] == 44 && bench.commodore[0xD010] == 1)
    }

    @Test
    func unknownElementsAndWrongLengthsAreSkipped() async throws {
        let bench = try await Bench.connected()
        for element in [0, 4, 5, 18, 21, 22, 100, 128, 246, 255] as [UInt8] {
            bench.set(element, [1, 2, 3])
        }
        bench.set(1, [1, 2])
        bench.set(7, [1])
        bench.set(10, [5])
        bench.set(13, [16])
        bench.set(16, [1, 2, 3])
        bench.send(3)
        bench.send(3, [1, 1, 0, 0])
        bench.send(3, [1, 1, 0, 1, 0, 2])
        bench.send(3, [1, 250, 0, 0, 0, 2])
        try bench.settle()
        #expect(bench.commodore.borderColour == .lightBlue)
        #expect(bench.commodore.soundRegisters.prefix(7) == [0, 0, 0, 8, 0, 0, 0])
        bench.send(3, Bench.envelope(99, [1]) + Bench.envelope(1, [5]))
        try bench.settle()
        #expect(bench.commodore.borderColour == .green && bench.state == "connected")
    }

    /// Records of every length and content at line speed: none is lost, and synchronisation is kept.
    @Test(arguments: 1...(Depth.isAll ? 6 : 2))
    func recordsAtFullSpeedAreAllUnderstood(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let bench = try await Bench.connected(seed % 2 == 0 ? .pal : .ntsc)
        for round in 0..<60 {
            // Half of them with texts that scroll a lot, which takes the most time.
            let count = Int.random(in: 0...255, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if round % 2 == 0 && count >= 5 {
                let text = (5..<count).map { ($0 % 2 == 0 ? 0x0D : UInt8.random(in: 0x20...0x7F, using: &generator)) }
                bytes = [3, UInt8(count - 5), 0, 0, 0] + text
            } else if count > 0 && (19...20).contains(bytes[0]) {
                bytes[0] = 1  // not into the memory
            }
            bench.send(3, bytes)
            switch round % 4 {
            case 0: bench.commodore.line.send([0])
            case 1: bench.send(2, "Send failed")
            case 2: bench.send(4, "Connected")
            default: bench.send(1)
            }
        }
        bench.set(1, [7])
        try bench.run("the last of it", frames: 20000) { $0.commodore.line.pendingByteCount == 0 }
        try bench.run("the border") { $0.commodore.borderColour == .yellow }
        #expect(bench.commodore.line.statistics.overrunByteCount == 0)
        #expect(bench.state == "connected" && bench.commands.isEmpty)
    }

    @Test(arguments: 1...(Depth.isAll ? 10 : 2))
    func noiseDoesNotHarmTheProgram(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let bench = try await Bench.connected()
        // Bytes that the program cannot take for a permitted write into its own memory.
        bench.commodore.line.send((0..<2000).map { _ in UInt8.random(in: 24...255, using: &generator) })
        try bench.run("the noise", frames: 5000) { $0.commodore.line.pendingByteCount == 0 }
        try bench.run("a new attempt", frames: 5000) { $0.commands.contains { $0.code == 4 } }
        #expect(bench.commodore.stopReason == nil)
    }

    @Test
    func typingWhileTheLineIsBusyLosesNothing() async throws {
        let bench = try await Bench.connected()
        for number in 0..<30 { bench.print("something that keeps the line busy for a while \(number)") }
        for number in 0..<5 { bench.commodore.type("line \(number)\n") }
        try bench.run("the lines", frames: 5000) { $0.values.filter { $0.element == 4 }.count == 5 }
        let lines = bench.values.filter { $0.element == 4 }.map { String(petscii: $0.bytes, in: .lowerCase) }
        #expect(lines == (0..<5).map { "line \($0)" })
        try bench.settle()
        #expect(bench.commodore.line.statistics.overrunByteCount == 0)
    }
}
