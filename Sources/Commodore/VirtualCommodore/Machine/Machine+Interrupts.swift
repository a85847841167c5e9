// The 60 Hz interrupt, the jiffy clock and the keyboard.
extension Machine {
    /// $FF48: saves the registers and continues where $0314 points, or $0316 after a BRK.
    mutating func enterInterrupt() -> RoutineEnd {
        processor.push(processor.a, &memory)
        processor.push(processor.x, &memory)
        processor.push(processor.y, &memory)
        let status = memory.ram[0x0100 | UInt16(processor.stackPointer &+ 4)]
        processor.x = processor.stackPointer
        let isBreak = status & Processor.Flag.break_ != 0
        processor.programCounter = memory.ram[word: isBreak ? 0x0316 : 0x0314]
        return .jumps(cycles: 29)
    }

    /// $EA31: the clock, the cursor, the keyboard.
    mutating func interruptRoutine() -> RoutineEnd {
        advanceClock()
        blinkCursor()
        scanKeyboard()
        _ = memory.readChip(0xDC0D)
        _ = leaveInterrupt()
        return .jumps(cycles: 700)
    }

    /// $EA7E: only acknowledges the interrupt and returns.
    mutating func acknowledgeInterrupt() -> RoutineEnd {
        _ = memory.readChip(0xDC0D)
        return leaveInterrupt()
    }

    /// $EA81: restores the registers and returns.
    mutating func leaveInterrupt() -> RoutineEnd {
        processor.y = processor.pull(&memory)
        processor.x = processor.pull(&memory)
        processor.a = processor.pull(&memory)
        processor.returnFromInterrupt(&memory)
        return .jumps(cycles: 22)
    }

    /// $FE47: disables CIA 2's interrupts. RESTORE alone does nothing more; with RUN/STOP it ends the program.
    mutating func nonMaskableRoutine() -> RoutineEnd {
        memory.writeChip(0x7F, to: 0xDD0D)
        _ = memory.readChip(0xDD0D)
        guard kernal.isStopKeyDown else {
            processor.returnFromInterrupt(&memory)
            return .jumps(cycles: 60)
        }
        return .stops(.returnedToBasic)
    }

    mutating func breakRoutine() -> RoutineEnd {
        // Below the three saved registers and the status is the address after the BRK and its padding byte.
        let address = UInt16(processor.stackPointer &+ 5)
        let low = memory.ram[0x0100 | address & 0xFF]
        let high = memory.ram[0x0100 | (address + 1) & 0xFF]
        return .stops(.breakInstruction(at: (UInt16(low) | UInt16(high) << 8) &- 2))
    }

    // MARK: - The jiffy clock

    mutating func advanceClockRoutine() -> RoutineEnd {
        advanceClock()
        return .returns(cycles: 40)
    }

    mutating func setClock() -> RoutineEnd {
        memory.ram[Kernal.Variable.clock] = processor.y
        memory.ram[Kernal.Variable.clock + 1] = processor.x
        memory.ram[Kernal.Variable.clock + 2] = processor.a
        return .returns(cycles: 20)
    }

    mutating func readClock() -> RoutineEnd {
        processor.y = memory.ram[Kernal.Variable.clock]
        processor.x = memory.ram[Kernal.Variable.clock + 1]
        processor.a = memory.ram[Kernal.Variable.clock + 2]
        return .returns(cycles: 20)
    }

    /// UDTIM: counts a jiffy, wrapping to 0 after 24 hours, and checks RUN/STOP.
    private mutating func advanceClock() {
        let clock = Kernal.Variable.clock
        var jiffies = Int(memory.ram[clock]) << 16 | Int(memory.ram[clock + 1]) << 8 | Int(memory.ram[clock + 2])
        jiffies += 1
        if jiffies >= 0x4F1A01 { jiffies = 0 }
        memory.ram[clock] = UInt8(jiffies >> 16)
        memory.ram[clock + 1] = UInt8(jiffies >> 8 & 0xFF)
        memory.ram[clock + 2] = UInt8(jiffies & 0xFF)
        memory.ram[Kernal.Variable.stopKey] = kernal.isStopKeyDown ? 0x7F : 0xFF
    }

    // MARK: - The keyboard

    mutating func scanKeyboardRoutine() -> RoutineEnd {
        scanKeyboard()
        return .returns(cycles: 500)
    }

    /// SCNKEY: puts the next typed key into the buffer, if there is room.
    private mutating func scanKeyboard() {
        memory.ram[Kernal.Variable.pressedKey] = 0x40
        memory.ram[Kernal.Variable.lastKey] = 0x40
        let count = memory.ram[Kernal.Variable.keyCount]
        let limit = min(memory.ram[Kernal.Variable.keyLimit], 10)
        guard count < limit, let key = kernal.keys.popFirst() else { return }
        memory.ram[Kernal.Variable.keyBuffer + UInt16(count)] = key
        memory.ram[Kernal.Variable.keyCount] = count + 1
    }

    /// Removes the first key from the buffer.
    mutating func takeKey() -> UInt8? {
        let count = min(memory.ram[Kernal.Variable.keyCount], 10)
        guard count > 0 else { return nil }
        let key = memory.ram[Kernal.Variable.keyBuffer]
        for index in 0..<UInt16(count - 1) {
            memory.ram[Kernal.Variable.keyBuffer + index] = memory.ram[Kernal.Variable.keyBuffer + index + 1]
        }
        memory.ram[Kernal.Variable.keyCount] = count - 1
        return key
    }

    mutating func testStopKey() -> RoutineEnd {
        let isDown = memory.ram[Kernal.Variable.stopKey] == 0x7F
        if isDown {
            _ = clearChannels()
            memory.ram[Kernal.Variable.keyCount] = 0
        }
        processor.a = memory.ram[Kernal.Variable.stopKey]
        processor.setResult(isDown ? 0 : 1)
        processor.carry = isDown ? 1 : 0
        return .returns(cycles: 15)
    }
}
