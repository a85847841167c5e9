// The stack, branches, subroutines and interrupts.
extension Processor {
    /// The addresses of the interrupt vectors.
    enum Vector {
        static let nonMaskable: UInt16 = 0xFFFA
        static let interrupt: UInt16 = 0xFFFE
    }

    @inline(__always)
    mutating func push(_ value: UInt8, _ memory: inout AddressSpace) {
        memory.write(value, to: 0x0100 | UInt16(stackPointer))
        stackPointer &-= 1
    }

    @inline(__always)
    mutating func pull(_ memory: inout AddressSpace) -> UInt8 {
        stackPointer &+= 1
        return memory.read(0x0100 | UInt16(stackPointer))
    }

    mutating func pushWord(_ value: UInt16, _ memory: inout AddressSpace) {
        push(UInt8(value >> 8), &memory)
        push(UInt8(truncatingIfNeeded: value), &memory)
    }

    mutating func pullWord(_ memory: inout AddressSpace) -> UInt16 {
        let low = pull(&memory)
        return UInt16(low) | UInt16(pull(&memory)) << 8
    }

    /// Executes a conditional branch.
    ///
    /// - Returns: the cycles: 2, plus 1 if taken, plus 1 more if it crosses a page.
    @inline(__always)
    mutating func branch(_ isTaken: Bool, _ memory: inout AddressSpace) -> Int {
        let offset = Int8(bitPattern: fetch(&memory))
        guard isTaken else { return 2 }
        let target = programCounter &+ UInt16(bitPattern: Int16(offset))
        defer { programCounter = target }
        return (programCounter ^ target) & 0xFF00 == 0 ? 3 : 4
    }

    mutating func jumpToSubroutine(_ memory: inout AddressSpace) {
        let low = fetch(&memory)
        // The return address is that of the instruction's last byte, which is read after the pushes.
        pushWord(programCounter, &memory)
        programCounter = UInt16(low) | UInt16(memory.read(programCounter)) << 8
    }

    mutating func returnFromSubroutine(_ memory: inout AddressSpace) {
        programCounter = pullWord(&memory) &+ 1
    }

    mutating func returnFromInterrupt(_ memory: inout AddressSpace) {
        status = pull(&memory)
        programCounter = pullWord(&memory)
        areInterruptsMasked = interruptDisable
    }

    /// `JMP (address)`: the high byte is read from the same page, even if the low byte is the page's last.
    mutating func jumpIndirect(_ memory: inout AddressSpace) {
        let pointer = absolute(&memory)
        let next = pointer & 0xFF00 | (pointer &+ 1) & 0x00FF
        programCounter = UInt16(memory.read(pointer)) | UInt16(memory.read(next)) << 8
    }

    mutating func breakInstruction(_ memory: inout AddressSpace) {
        programCounter &+= 1
        interrupt(through: Vector.interrupt, status: status | Flag.break_, &memory)
    }

    /// Enters an interrupt routine; 7 cycles.
    mutating func interrupt(through vector: UInt16, _ memory: inout AddressSpace) {
        interrupt(through: vector, status: status, &memory)
    }

    private mutating func interrupt(through vector: UInt16, status: UInt8, _ memory: inout AddressSpace) {
        pushWord(programCounter, &memory)
        push(status, &memory)
        interruptDisable = true
        areInterruptsMasked = true
        programCounter = UInt16(memory.read(vector)) | UInt16(memory.read(vector &+ 1)) << 8
    }
}
