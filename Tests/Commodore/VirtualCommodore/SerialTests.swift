import PETSCII
import TestSupport
import Testing
import VirtualCommodore

/// The RS-232 line through the KERNAL.
struct SerialTests {
    /// Control register for 8 data bits and one stop bit, by speed.
    private static let speeds: [(baud: Int, control: UInt8)] = [
        (50, 1), (75, 2), (110, 3), (150, 5), (300, 6), (600, 7), (1200, 8), (2400, 10),
    ]

    /// Opens file 2 to device 2 at a speed and goes on with what is added.
    private func machine(
        control: UInt8 = 8, baud: Int = 1200, _ standard: VideoStandard = .pal, _ write: (inout Assembler) -> Void
    ) throws -> Commodore64 {
        var code = Assembler()
        code.openLine(nameByteCount: 2)
        write(&code)
        code.stay()
        code.label("name")
        code.data([control, 0])
        let commodore = Commodore64(standard: standard, line: SerialLine(baud: baud))
        try commodore.start(try code.program())
        return commodore
    }

    /// Sends back each received byte, including 0.
    private func echo(_ code: inout Assembler) {
        code.label("next")
        code.call(Entry.chkin, x: 2)
        code.call(Entry.getin)
        code(.sta, at: 0x2000)
        code.call(Entry.readst)
        code(.and, 0x08)
        code(.bne, "next")
        code.call(Entry.chkout, x: 2)
        code(.lda, at: 0x2000)
        code.call(Entry.chrout)
        code(.jmp, "next")
    }

    /// What comes back, once it is that many bytes.
    private func received(_ count: Int, from commodore: Commodore64, frames: Int = 50) -> [UInt8] {
        var bytes: [UInt8] = []
        commodore.run(frames: frames) { machine in
            bytes += machine.line.receive()
            return bytes.count == count
        }
        return bytes
    }

    @Test(arguments: VideoStandard.allCases)
    func everyByteGoesThroughBothRings(_ standard: VideoStandard) throws {
        let commodore = try machine(standard) { echo(&$0) }
        commodore.runFrame()
        var generator = SeededGenerator(seed: 1200)
        let bytes = Array(UInt8.min...UInt8.max) + (0..<600).map { _ in UInt8.random(in: 0...255, using: &generator) }
        commodore.line.send(bytes)
        #expect(received(bytes.count, from: commodore, frames: 2000) == bytes)
        #expect(commodore.line.statistics.overrunByteCount == 0)
        #expect(commodore.line.statistics.receivedByteCount == bytes.count)
        #expect(commodore.line.statistics.sentByteCount == bytes.count)
    }

    @Test(arguments: speeds)
    func theLineTakesItsTime(_ baud: Int, _ control: UInt8) throws {
        let commodore = try machine(control: control, baud: baud) { code in code.call(Entry.chkin, x: 2) }
        commodore.runFrame()
        let count = 20
        commodore.line.send(repeatElement(0x55, count: count))
        let start = commodore.cycle
        let byteTime = Double(commodore.standard.cyclesPerSecond * 10) / Double(baud)
        while commodore.unreadByteCount < count && commodore.cycle < start + UInt64(byteTime * 40) {
            commodore.run(cycles: 20)
        }
        let taken = Double(commodore.cycle - start)
        // Within the 20 cycles of a polling loop and the running interrupt routines.
        #expect(abs(taken - byteTime * Double(count)) < 1500, "\(taken) cycles for \(count) bytes")
        #expect((0..<count).allSatisfy { commodore.ram(at: 0x9F00 + UInt16($0)) == 0x55 })
    }

    @Test(arguments: speeds)
    func sendingTakesItsTime(_ baud: Int, _ control: UInt8) throws {
        let commodore = try machine(control: control, baud: baud) { code in
            code.call(Entry.chkout, x: 2)
            for byte in UInt8(1)...10 {
                code.call(Entry.chrout, a: byte)
            }
        }
        let byteTime = Double(commodore.standard.cyclesPerSecond * 10) / Double(baud)
        var times: [Double] = []
        for _ in 0..<Int(byteTime * 14 / 50) {
            commodore.run(cycles: 50)
            for _ in 0..<commodore.line.statistics.sentByteCount - times.count { times.append(Double(commodore.cycle)) }
        }
        #expect(commodore.line.receive() == Array(1...10))
        try #require(times.count == 10)
        #expect(abs(times[9] - times[0] - 9 * byteTime) < 1500)
    }

    @Test
    func whatComesBeforeTheFirstCHKINIsLost() throws {
        let commodore = try machine { code in
            code.label("wait")
            code(.lda, at: 0x2000)
            code(.beq, "wait")
            code.call(Entry.chkin, x: 2)
        }
        commodore.runFrame()
        commodore.line.send([1, 2, 3])
        commodore.run(frames: 10) { $0.line.pendingByteCount == 0 }
        #expect(commodore.unreadByteCount == 0)
        #expect(commodore.line.statistics.unheardByteCount == 3)
        commodore[0x2000] = 1
        commodore.runFrame()
        commodore.line.send([4, 5])
        commodore.run(frames: 10) { $0.unreadByteCount == 2 }
        #expect(commodore.ram(at: 0x9F00) == 4 && commodore.ram(at: 0x9F01) == 5)
    }

    @Test
    func pastTwoHundredAndFiftyFiveUnreadBytesAreDropped() throws {
        let commodore = try machine { code in code.call(Entry.chkin, x: 2) }
        commodore.runFrame()
        commodore.line.send((0..<300).map { UInt8($0 % 251) })
        commodore.run(frames: 500) { $0.line.pendingByteCount == 0 }
        #expect(commodore.unreadByteCount == 255)
        #expect(commodore.line.statistics.overrunByteCount == 45)
        #expect(commodore.ram(at: 0x0297) & 0x04 != 0)
        #expect(commodore.ram(at: 0x9F00 + 254) == 254 % 251)
    }

    @Test
    func CHRINWaitsForAByteAndSkipsZero() throws {
        let commodore = try machine { code in
            code.call(Entry.chkin, x: 2)
            code.call(Entry.chrin)
            code(.sta, at: 0x2000)
        }
        for _ in 0..<5 { commodore.runFrame() }
        commodore.line.send([0, 0, 0x41])
        commodore.run(frames: 10) { $0.ram(at: 0x2000) != 0 }
        #expect(commodore.ram(at: 0x2000) == 0x41)
    }

    @Test
    func aLineOfAnotherSpeedBringsGarbage() throws {
        let commodore = try machine(control: 8, baud: 300) { code in code.call(Entry.chkin, x: 2) }
        commodore.runFrame()
        let text = Array("hello".utf8)
        commodore.line.send(text)
        commodore.run(frames: 50) { $0.line.pendingByteCount == 0 }
        let received = (0..<commodore.unreadByteCount).map { commodore.ram(at: 0x9F00 + UInt16($0)) }
        #expect(!received.isEmpty && received != text)
    }

    @Test
    func theProgramsOwnSpeedIsTaken() throws {
        // The speed of 1200 as the program's own: 985248 / 1200 / 2 - 100 = 311.
        let commodore = Commodore64()
        var code = Assembler()
        code.openLine(nameByteCount: 4)
        echo(&code)
        code.label("name")
        code.data([0, 0, 0x37, 0x01])
        try commodore.start(try code.program())
        commodore.runFrame()
        commodore.line.send([1, 2, 0xAA, 0x55, 0xFF])
        #expect(received(5, from: commodore) == [1, 2, 0xAA, 0x55, 0xFF])
    }

    @Test
    func dataTerminalReadyFollowsOPENAndCarrierIsRead() throws {
        let commodore = try machine { _ in }
        #expect(!commodore.line.dtr)
        commodore.runFrame()
        #expect(commodore.line.dtr)
        #expect(commodore[0xDD01] & 0x10 != 0)
        commodore.line.dcd = false
        #expect(commodore[0xDD01] & 0x10 == 0)
    }

    @Test
    func aCutLineForgetsWhatHasNotArrived() throws {
        let commodore = try machine { echo(&$0) }
        commodore.runFrame()
        commodore.line.send(repeatElement(0x41, count: 100))
        for _ in 0..<10 { commodore.runFrame() }
        commodore.line.cut()
        #expect(commodore.line.pendingByteCount == 0)
        for _ in 0..<20 { commodore.runFrame() }
        let count = commodore.line.statistics.receivedByteCount
        #expect(count > 0 && count < 100)
        _ = commodore.line.receive()
        commodore.line.send([0x42])
        #expect(received(1, from: commodore) == [0x42])
    }

    @Test
    func errorsOfFilesHaveTheirNumbers() throws {
        // Each call's carry and number are kept: an unknown file, an open one, a device that is not there.
        let commodore = try machine { code in
            func keep(_ index: UInt16) {
                code(.sta, at: 0x2000 + index)
                code(.lda, 0)
                code.data([0x2A])
                code(.sta, at: 0x2010 + index)
            }
            code.call(Entry.chkin, x: 9)
            keep(0)
            code.call(Entry.open)
            keep(1)
            code.call(Entry.setlfs, a: 1, x: 8)
            code.call(Entry.open)
            keep(2)
            code.call(Entry.close, a: 2)
            code.call(Entry.chkout, x: 2)
            keep(3)
        }
        commodore.runFrame()
        #expect((0..<4).map { commodore.ram(at: 0x2000 + UInt16($0)) } == [3, 2, 5, 3])
        #expect((0..<4).allSatisfy { commodore.ram(at: 0x2010 + UInt16($0)) == 1 })
    }
}
