/// The processor, its address space, and the KERNAL, which is emulated instead of executed.
struct Machine: ~Copyable {
    var processor = Processor()
    var memory: AddressSpace
    var kernal = Kernal()
    /// Why the machine has stopped, if it has.
    var stop: StopReason?

    init(standard: VideoStandard, line: SerialLine) {
        memory = AddressSpace(standard: standard, line: line)
        reset()
    }

    /// Runs until the given time; the last instruction may end later.
    mutating func run(until end: UInt64) {
        memory.startIncoming()
        while memory.clock < end && stop == nil {
            if memory.clock >= memory.nextEvent {
                memory.handleEvents()
            }
            if memory.isNonMaskableRequested {
                memory.isNonMaskableRequested = false
                processor.interrupt(through: Processor.Vector.nonMaskable, &memory)
                memory.clock += 7
            } else if memory.isInterruptRequested && !processor.areInterruptsMasked {
                processor.interrupt(through: Processor.Vector.interrupt, &memory)
                memory.clock += 7
            }
            if memory.pages.isProgramROM(processor.programCounter) {
                carryOutRoutine()
                continue
            }
            let cycles = processor.step(&memory)
            if cycles == 0 {
                let address = processor.programCounter
                stop = .undocumentedOpcode(memory.read(address), at: address)
            }
            memory.clock += UInt64(cycles)
        }
    }
}
