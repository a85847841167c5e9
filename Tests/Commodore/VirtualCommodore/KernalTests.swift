import PETSCII
import Testing
import VirtualCommodore

/// Interrupts, the keyboard, the joysticks and other parts, as programs see them.
struct KernalTests {
    private func started(_ standard: VideoStandard = .pal, _ write: (inout Assembler) -> Void) throws -> Commodore64 {
        var code = Assembler()
        write(&code)
        let commodore = Commodore64(standard: standard)
        try commodore.start(try code.program())
        return commodore
    }

    @Test(arguments: VideoStandard.allCases)
    func theJiffyClockCountsSixtyASecond(_ standard: VideoStandard) throws {
        let commodore = try started(standard) { $0.stay() }
        commodore.run(cycles: standard.cyclesPerSecond * 10)
        #expect((598...601).contains(commodore.jiffies))
    }

    @Test
    func typedTextIsReadWithGETIN() throws {
        let commodore = try started { code in
            code.label("next")
            code.call(Entry.getin)
            code(.beq, "next")
            code.call(Entry.chrout)
            code(.jmp, "next")
        }
        commodore.type("Hello 64\nmore than ten keys at once")
        commodore.run(frames: 200) { $0.screenRows[1].hasSuffix("AT ONCE") }
        #expect(commodore.screenRows[0] == "HELLO 64")
        #expect(commodore.screenRows[1] == "MORE THAN TEN KEYS AT ONCE")
        #expect(commodore.untypedKeyCount == 0)
    }

    @Test
    func aTypedLineIsReadWithCHRIN() throws {
        // Reads a line into $2000 and ends.
        let commodore = try started { code in
            code.call(Entry.chrout, a: 0x3F)
            code(.ldx, 0)
            code.label("next")
            code(.stx, at: 0x1FFF)
            code.call(Entry.chrin)
            code(.ldx, at: 0x1FFF)
            code(.staX, at: 0x2000)
            code(.inx)
            code(.cmp, 0x0D)
            code(.bne, "next")
            code.stay()
        }
        commodore.type("abd")
        commodore.press(.delete)
        commodore.type("c  \n")
        commodore.run(frames: 100) { $0.ram(at: 0x2003) == 0x0D }
        // The question mark stands before the place where the input began.
        #expect((0x2000...0x2003).map { commodore.ram(at: $0) } == [0x41, 0x42, 0x43, 0x0D])
        #expect(commodore.screenRows[0] == "?ABC")
    }

    @Test
    func anInterruptRoutineOfTheProgramIsCalled() throws {
        // The routine counts at $2000 and goes on at $EA31, so that the clock runs too.
        let commodore = try started { code in
            code(.sei)
            code.store("routine", at: 0x0314)
            code(.cli)
            code.stay()
            code.label("routine")
            code(.inc, at: 0x2000)
            code(.jmp, at: 0xEA31)
        }
        commodore.run(frames: 100) { $0.ram(at: 0x2000) >= 30 }
        #expect((30...31).contains(commodore.ram(at: 0x2000)))
        #expect(commodore.jiffies == Int(commodore.ram(at: 0x2000)))
    }

    @Test(arguments: VideoStandard.allCases)
    func aRasterInterruptComesOnceAPicture(_ standard: VideoStandard) throws {
        // Raster line 100 interrupts; the routine notes the line, counts, acknowledges and ends at $EA81.
        let commodore = try started(standard) { code in
            code(.sei)
            code.store(0x7F, at: 0xDC0D)
            code(.lda, at: 0xDC0D)
            code.store(0x1B, at: 0xD011)
            code.store(100, at: 0xD012)
            code.store("routine", at: 0x0314)
            code.store(0x01, at: 0xD019)
            code(.sta, at: 0xD01A)
            code(.cli)
            code.stay()
            code.label("routine")
            code(.lda, at: 0xD012)
            code(.sta, at: 0x2001)
            code(.inc, at: 0x2000)
            // Its first write acknowledges.
            code(.asl, at: 0xD019)
            code(.jmp, at: 0xEA81)
        }
        for _ in 0..<50 { commodore.runFrame() }
        #expect((49...50).contains(commodore.ram(at: 0x2000)))
        #expect((100...101).contains(commodore.ram(at: 0x2001)))
    }

    @Test
    func theRasterCounterPassesAllLines() throws {
        let commodore = try started { $0.stay() }
        var lines: Set<Int> = []
        for _ in 0..<3000 {
            lines.insert(Int(commodore[0xD012]) | Int(commodore[0xD011] & 0x80) << 1)
            commodore.run(cycles: 10)
        }
        #expect(lines == Set(0..<312))
    }

    @Test
    func joysticksAreReadInTheirPorts() throws {
        let commodore = try started { $0.stay() }
        commodore.joystick1 = [.left, .fire]
        commodore.joystick2 = .up
        #expect(commodore[0xDC01] & 0x1F == 0b01011)
        #expect(commodore[0xDC00] & 0x1F == 0b11110)
        commodore.joystick1 = []
        #expect(commodore[0xDC01] & 0x1F == 0b11111)
    }

    @Test
    func theStopKeyIsSeen() throws {
        let commodore = try started { code in
            code.label("next")
            code.call(Entry.stop)
            code(.bne, "next")
            code(.inc, at: 0x2000)
            code.stay()
        }
        commodore.runFrame()
        commodore.runFrame()
        #expect(commodore.ram(at: 0x2000) == 0)
        commodore.isStopKeyDown = true
        commodore.run(frames: 10) { $0.ram(at: 0x2000) == 1 }
        #expect(commodore.ram(at: 0x2000) == 1)
        commodore.pressRestore()
        commodore.runFrame()
        #expect(commodore.stopReason == .returnedToBasic)
    }

    @Test
    func soundIsLoggedWithItsTime() throws {
        let commodore = try started { code in
            code.store(0x0F, at: 0xD418)
            code.store(0x11, at: 0xD404)
            code.stay()
        }
        _ = commodore.takeSoundWrites()
        commodore.runFrame()
        let log = commodore.takeSoundWrites()
        #expect(log.writes.map(\.register) == [0x18, 0x04])
        #expect(log.writes.map(\.value) == [0x0F, 0x11])
        #expect(log.writes[1].cycle == log.writes[0].cycle + 6)
        #expect(log.missing == 0 && commodore.takeSoundWrites().writes.isEmpty)
        #expect(commodore.soundRegisters[0x18] == 0x0F)
    }

    @Test
    func theCursorIsReadAndSetWithPLOT() throws {
        let commodore = try started { code in
            code(.clc)
            code.call(Entry.plot, x: 5, y: 7)
            code.call(Entry.chrout, a: 0x58)
            code(.sec)
            code.call(Entry.plot)
            code(.stx, at: 0x2000)
            code(.sty, at: 0x2001)
            code.stay()
        }
        commodore.runFrame()
        #expect(commodore.screenRows[5] == "       X")
        #expect(commodore.ram(at: 0x2000) == 5 && commodore.ram(at: 0x2001) == 8)
    }

    @Test
    func theMemoryBelowTheROMsIsReachedThroughThePort() throws {
        let commodore = try started { code in
            code.store(0x42, at: 0xE000)
            code(.lda, at: 0xE000)
            code(.sta, at: 0x2000)
            code(.sei)
            code.store(0x34, at: 0x0001)
            code(.lda, at: 0xE000)
            code(.sta, at: 0x2001)
            code.store(0x05, at: 0xD020)
            code.store(0x37, at: 0x0001)
            code.stay()
        }
        commodore.runFrame()
        #expect(commodore.ram(at: 0x2000) == 0)
        #expect(commodore.ram(at: 0x2001) == 0x42)
        #expect(commodore.ram(at: 0xD020) == 0x05)
        #expect(commodore.borderColour == .lightBlue)
    }
}
