import PETSCII
import TestSupport
import Testing
import VirtualCommodore

struct ProgramTests {
    /// `10 SYS 2080` as BASIC keeps it, then padding up to $0820, and a program.
    private static func basic(_ text: String, then code: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x01, 0x08, 0x0B, 0x08, 0x0A, 0x00, 0x9E] + Array(text.utf8) + [0, 0, 0]
        while bytes.count < 0x0820 - 0x0801 + 2 { bytes.append(0) }
        return bytes + code
    }

    /// LDA #5, STA $D020, RTS.
    private static let border: [UInt8] = [0xA9, 0x05, 0x8D, 0x20, 0xD0, 0x60]

    @Test(arguments: ["2080", " 2080", "(2080)", " 2 0 80 ", "2080:", "2080:\u{8F}hello"])
    func aLineOfBasicSaysWhereItStarts(_ text: String) throws {
        let program = try Program(prg: Self.basic(text, then: Self.border))
        #expect(try program.startAddress() == 2080)
        let commodore = Commodore64()
        try commodore.start(program)
        commodore.runFrame()
        #expect(commodore.borderColour == .green)
        #expect(commodore.stopReason == .returnedToBasic)
        #expect(commodore.screenRows.contains("READY."))
    }

    @Test(arguments: ["", "A", "65536", "99999999999999999999999", "2080+1", "(", "2080*"])
    func aLineOfBasicWithoutAnAddressIsAnError(_ text: String) throws {
        let program = try Program(prg: Self.basic(text, then: Self.border))
        #expect(throws: ProgramError.noStart) { try program.startAddress() }
        #expect(throws: ProgramError.noStart) { try Commodore64().start(program) }
        #expect(throws: Never.self) { try Commodore64().start(program, at: 2080) }
    }

    @Test
    func aProgramElsewhereStartsAtItsFirstByte() throws {
        #expect(try Program(prg: [0x00, 0xC0] + Self.border).startAddress() == 0xC000)
    }

    @Test(arguments: [[], [0x01], [0x01, 0x08]] as [[UInt8]])
    func aFileWithoutAProgramIsAnError(_ file: [UInt8]) {
        #expect(throws: ProgramError.empty) { try Program(prg: file) }
    }

    @Test
    func aProgramPastTheEndOfTheMemoryIsAnError() throws {
        #expect(throws: ProgramError.tooLong(byteCount: 3, loadAddress: 0xFFFE)) { try Program([1, 2, 3], at: 0xFFFE) }
        #expect(throws: Never.self) { try Program([1, 2], at: 0xFFFE) }
        #expect(throws: Never.self) { try Program(repeatElement(0, count: 0x10000), at: 0) }
    }

    @Test(
        arguments: [
            ([0xEA, 0x02, 0xEA], .undocumentedOpcode(0x02, at: 0xC001), "undocumented opcode $02 at $C001"),
            ([0x20, 0x23, 0xE1], .missingRoutine(at: 0xE123), "$E123"),
            ([0xEA, 0xEA, 0x00], .breakInstruction(at: 0xC002), "$C002"),
        ] as [([UInt8], StopReason, String)])
    func whatStopsTheMachineIsNamed(_ program: [UInt8], _ reason: StopReason, _ text: String) throws {
        let commodore = Commodore64()
        try commodore.start(try Program(program, at: 0xC000))
        commodore.runFrame()
        #expect(commodore.stopReason == reason && reason.description.contains(text))
        let cycle = commodore.cycle
        commodore.runFrame()
        #expect(commodore.cycle == cycle)
    }

    @Test
    func theSameProgramRunsTheSameWayEveryTime() throws {
        func run() throws -> (Processor, UInt64, Picture) {
            var generator = SeededGenerator(seed: 7)
            let bytes = (0..<0x4000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let commodore = Commodore64()
            try commodore.start(try Program(bytes, at: 0x1000))
            for _ in 0..<10 { commodore.runFrame() }
            return (commodore.processor, commodore.cycle, commodore.picture())
        }
        let first = try run()
        let second = try run()
        #expect(first.0 == second.0 && first.1 == second.1 && first.2 == second.2)
    }

    private static let documented: [UInt8] = (0...255).filter { code in
        let machine = FlatMachine()
        machine[0] = code
        return machine.step() != nil
    }

    /// Whatever a program does, the machine runs or reports why it has stopped.
    @Test(arguments: 1...(Depth.isAll ? 60 : 8))
    func randomProgramsDoNotHarmTheMachine(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let documented = Self.documented
        // Mostly documented opcodes, so that it goes far, on all of the memory, the KERNAL's variables too.
        let bytes = (0..<0x10000 - 2).map { _ in
            Int.random(in: 0..<3, using: &generator) > 0
                ? documented.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255, using: &generator)
        }
        let commodore = Commodore64(standard: seed % 2 == 0 ? .pal : .ntsc)
        for start in [0xC000, 0x2000, 0x0400, 0xFFD2, 0xEA31, 0xE544] as [UInt16] {
            try commodore.start(try Program(bytes, at: 2), at: start)
            commodore.type("hello\n")
            commodore.line.send([1, 2, 3, 4, 5])
            for _ in 0..<6 { commodore.runFrame() }
            #expect(commodore.screenRows.count == 25)
            #expect(commodore.picture().points.allSatisfy { $0 < 16 })
        }
    }
}

struct FlatMachineTests {
    @Test
    func aTestProgramSucceedsOrIsTrapped() throws {
        // LDX #3, DEX, BNE -3, CPX #0, BNE trap, success: JMP success; trap: JMP trap.
        var code = Assembler(at: 0x0400)
        code(.ldx, 3)
        code.label("loop")
        code(.dex)
        code(.bne, "loop")
        code(.cpx, 0)
        code(.bne, "trap")
        code.label("success")
        code(.jmp, "success")
        code.label("trap")
        code(.jmp, "trap")
        let machine = FlatMachine()
        machine.load(try code.program())
        let success = code.address(of: "success")
        #expect(machine.runTest(from: 0x0400, success: success) == .success(cycles: 2 + 3 * 5 - 1 + 2 + 2 + 3))
        #expect(machine.runTest(from: 0x0400, success: 0x1234) == .trapped(at: success))
        #expect(
            machine.runTest(from: code.address(of: "trap"), success: success) == .trapped(at: code.address(of: "trap")))
        #expect(machine.runTest(from: 0x0400, success: success, atMost: 5) == .unfinished(at: 0x0402))
        machine[0x0402] = 0x02
        #expect(machine.runTest(from: 0x0400, success: success) == .undocumentedOpcode(0x02, at: 0x0402))
    }

    @Test
    func anIndirectJumpTakesItsHighByteFromTheSamePage() throws {
        let machine = FlatMachine()
        machine.load(try Program([0x6C, 0xFF, 0x10], at: 0x0400))
        machine[0x10FF] = 0x34
        machine[0x1100] = 0x99
        machine[0x1000] = 0x12
        machine.processor.programCounter = 0x0400
        #expect(machine.step() == 5)
        #expect(machine.processor.programCounter == 0x1234)
    }
}
