// The power-on sequence, and the KERNAL's initialisation routines.
extension Machine {
    /// Brings the machine to the state of a real one at READY, but with an empty screen.
    mutating func reset() {
        memory.resetPort()
        processor = Processor()
        processor.stackPointer = 0xFF
        resetMemory()
        resetVectors()
        resetChips()
        resetScreenEditor()
        memory.ram[Kernal.Variable.memoryBottom &+ 1] = 0x08
        memory.ram[Kernal.Variable.messages] = 0x80
        memory.ram[0x2B] = 0x01
        memory.ram[0x2C] = 0x08
        memory.ram[0x38] = 0xA0
        processor.interruptDisable = false
    }

    mutating func initializeScreenEditor() -> RoutineEnd {
        resetScreenEditor()
        return .returns(cycles: 12_000)
    }

    mutating func initializeChips() -> RoutineEnd {
        resetChips()
        return .returns(cycles: 150)
    }

    mutating func initializeMemory() -> RoutineEnd {
        resetMemory()
        return .returns(cycles: 100_000)
    }

    mutating func restoreVectors() -> RoutineEnd {
        resetVectors()
        return .returns(cycles: 400)
    }

    /// Reads (carry set) or writes (carry clear) the vectors from or to the memory at X and Y.
    mutating func exchangeVectors() -> RoutineEnd {
        let place = UInt16(processor.x) | UInt16(processor.y) << 8
        for offset in UInt16(0)..<32 {
            let vector = Kernal.Variable.vectors + offset
            if processor.carry == 1 {
                memory.write(memory.ram[vector], to: place &+ offset)
            } else {
                let byte = memory.read(place &+ offset)
                memory.ram[vector] = byte
            }
        }
        return .returns(cycles: 500)
    }

    /// Reads (carry set) or writes (carry clear) the end of the memory, or its beginning, in X and Y.
    mutating func boundary(_ variable: UInt16) -> RoutineEnd {
        if processor.carry == 1 {
            processor.x = memory.ram[variable]
            processor.y = memory.ram[variable + 1]
        } else {
            memory.ram[variable] = processor.x
            memory.ram[variable + 1] = processor.y
        }
        return .returns(cycles: 20)
    }

    mutating func setMessages() -> RoutineEnd {
        memory.ram[Kernal.Variable.messages] = processor.a
        return .returns(cycles: 10)
    }

    /// There is no serial bus: every access reports "device not present".
    mutating func serialBus() -> RoutineEnd {
        memory.ram[Kernal.Variable.status] |= 0x80
        return .returns(cycles: 100)
    }

    mutating func coldStart() -> RoutineEnd {
        reset()
        return .stops(.returnedToBasic)
    }

    // MARK: - The chips

    private mutating func resetMemory() {
        for address in UInt16(2)..<0x0400 where !(0x0100..<0x0200).contains(address) { memory.ram[address] = 0 }
        memory.ram[word: Kernal.Variable.memoryTop] = 0xA000
        memory.ram[Kernal.Variable.screenPage] = 0x04
        memory.ram[0xB2] = 0x3C
        memory.ram[0xB3] = 0x03
        resetVectors()
    }

    private mutating func resetVectors() {
        for (index, vector) in KernalROM.vectors.enumerated() {
            memory.ram[word: Kernal.Variable.vectors + UInt16(index * 2)] = vector
        }
    }

    /// Sets the chips as the KERNAL does: 60 interrupts per second, sound off.
    private mutating func resetChips() {
        let latch = memory.standard.jiffyTimerLatch
        let values: [(UInt16, UInt8)] = [
            (0xDC0D, 0x7F), (0xDD0D, 0x7F), (0xDC00, 0x7F), (0xDC0E, 0x08), (0xDD0E, 0x08), (0xDC0F, 0x08),
            (0xDD0F, 0x08), (0xDC03, 0x00), (0xDD03, 0x00), (0xD418, 0x00), (0xDC02, 0xFF), (0xDD00, 0x07),
            (0xDD02, 0x3F), (0xDC04, UInt8(latch & 0xFF)), (0xDC05, UInt8(latch >> 8)), (0xDC0D, 0x81), (0xDC0E, 0x11),
        ]
        for (address, value) in values { memory.writeChip(value, to: address) }
        memory.ram[Kernal.Variable.isPAL] = memory.standard == .pal ? 1 : 0
    }
}
