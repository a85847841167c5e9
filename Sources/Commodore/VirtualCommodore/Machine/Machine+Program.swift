extension Machine {
    /// Continues at an address as SYS does; RTS returns to BASIC, which ends the program.
    mutating func start(at address: UInt16) {
        stop = nil
        processor.stackPointer = 0xF6
        processor.pushWord(KernalROM.Entry.basicAfterSys &- 1, &memory)
        processor.a = 0
        processor.x = 0
        processor.y = 0
        processor.status = 0
        processor.areInterruptsMasked = false
        processor.programCounter = address
    }
}
