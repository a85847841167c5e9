// The routines by their addresses.
extension Machine {
    /// Executes the ROM routine at the program counter.
    mutating func carryOutRoutine() {
        switch routine(at: processor.programCounter) {
        case .returns(let cycles):
            processor.returnFromSubroutine(&memory)
            memory.clock += cycles + 6
        case .jumps(let cycles), .waits(let cycles):
            memory.clock += cycles
        case .stops(let reason):
            stop = reason
        }
        // An interrupt may come before the next instruction, as after a real routine, which ends with RTS.
        processor.areInterruptsMasked = processor.interruptDisable
    }

    private mutating func routine(at address: UInt16) -> RoutineEnd {
        switch address {
        case 0xFF81: initializeScreenEditor()
        case 0xFF84: initializeChips()
        case 0xFF87: initializeMemory()
        case 0xFF8A: restoreVectors()
        case 0xFF8D: exchangeVectors()
        case 0xFF90: setMessages()
        case 0xFF93, 0xFF96, 0xFFA5, 0xFFA8, 0xFFAB, 0xFFAE, 0xFFB1, 0xFFB4: serialBus()
        case 0xFF99: boundary(Kernal.Variable.memoryTop)
        case 0xFF9C: boundary(Kernal.Variable.memoryBottom)
        case 0xFF9F: scanKeyboardRoutine()
        case 0xFFA2: .returns(cycles: 10)
        case 0xFFB7: readStatus()
        case 0xFFBA: setFile()
        case 0xFFBD: setName()
        case 0xFFC0: jump(through: 0x031A)
        case 0xFFC3: jump(through: 0x031C)
        case 0xFFC6: jump(through: 0x031E)
        case 0xFFC9: jump(through: 0x0320)
        case 0xFFCC: jump(through: 0x0322)
        case 0xFFCF: jump(through: 0x0324)
        case 0xFFD2: jump(through: 0x0326)
        case 0xFFD5, KernalROM.Entry.load, 0xFFD8, KernalROM.Entry.save: fail(.deviceNotPresent)
        case 0xFFDB: setClock()
        case 0xFFDE: readClock()
        case 0xFFE1: jump(through: 0x0328)
        case 0xFFE4: jump(through: 0x032A)
        case 0xFFE7: jump(through: 0x032C)
        case 0xFFEA: advanceClockRoutine()
        case 0xFFED: result(x: 40, y: 25)
        case 0xFFF0: plot()
        case 0xFFF3: result(x: 0x00, y: 0xDC)

        case KernalROM.Entry.open: open()
        case KernalROM.Entry.close: close()
        case KernalROM.Entry.chkin: setInput()
        case KernalROM.Entry.chkout: setOutput()
        case KernalROM.Entry.clrchn: clearChannels()
        case KernalROM.Entry.chrin: characterIn()
        case KernalROM.Entry.chrout: characterOut()
        case KernalROM.Entry.getin: getCharacter()
        case KernalROM.Entry.stop: testStopKey()
        case KernalROM.Entry.clall: closeAll()

        case KernalROM.Entry.interrupt: enterInterrupt()
        case KernalROM.Entry.interruptRoutine: interruptRoutine()
        case 0xEA7E: acknowledgeInterrupt()
        case KernalROM.Entry.interruptEnd, 0xFEBC: leaveInterrupt()
        case KernalROM.Entry.nonMaskable: jump(through: 0x0318)
        case KernalROM.Entry.nonMaskableRoutine: nonMaskableRoutine()
        case KernalROM.Entry.breakRoutine: breakRoutine()
        case KernalROM.Entry.reset: coldStart()

        // Not in the table but widely used: clear the screen, cursor home, print the zero-terminated text at A and Y.
        case 0xE544: clearScreenRoutine()
        case 0xE566: homeRoutine()
        case 0xAB1E: printText()
        case KernalROM.Entry.basicAfterSys, 0xE37B, 0xA474: returnToBasic()
        default: .stops(.missingRoutine(at: address))
        }
    }

    /// Jumps through a vector, as a table entry does.
    private mutating func jump(through vector: UInt16) -> RoutineEnd {
        processor.programCounter = memory.ram[word: vector]
        return .jumps(cycles: 5)
    }

    /// Returns with the carry clear, which means success.
    mutating func succeed(cycles: UInt64 = 20) -> RoutineEnd {
        processor.carry = 0
        return .returns(cycles: cycles)
    }

    /// Returns with the carry set and the error's number in the accumulator.
    mutating func fail(_ error: FileError) -> RoutineEnd {
        processor.carry = 1
        processor.a = error.rawValue
        return .returns(cycles: 40)
    }

    private mutating func result(x: UInt8, y: UInt8) -> RoutineEnd {
        processor.x = x
        processor.y = y
        return .returns(cycles: 6)
    }

    private mutating func returnToBasic() -> RoutineEnd {
        for byte in [0x0D, 0x52, 0x45, 0x41, 0x44, 0x59, 0x2E, 0x0D] as [UInt8] { printToScreen(byte) }
        return .stops(.returnedToBasic)
    }
}

/// The KERNAL's error numbers for files and channels.
enum FileError: UInt8 {
    case tooManyFiles = 1
    case fileOpen = 2
    case fileNotOpen = 3
    case deviceNotPresent = 5
    case notInputFile = 6
    case notOutputFile = 7
}
