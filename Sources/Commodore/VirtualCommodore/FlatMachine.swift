/// A 6502 with 64 KiB of RAM and nothing else, for processor test programs such as Klaus Dormann's functional test.
public final class FlatMachine {
    /// How a test program ended.
    public enum Outcome: Sendable, Hashable, CustomStringConvertible {
        /// It reached the success address.
        case success(cycles: Int)
        /// It looped at another address: the test before it failed.
        case trapped(at: UInt16)
        /// It reached an undocumented opcode.
        case undocumentedOpcode(UInt8, at: UInt16)
        /// It did not end within the cycles allowed.
        case unfinished(at: UInt16)

        /// The outcome in a sentence.
        public var description: String {
            switch self {
            case .success(let cycles): "success after \(cycles) cycles"
            case .trapped(let address): "trapped at \(hexadecimal(address))"
            case .undocumentedOpcode(let opcode, let address):
                "undocumented opcode \(hexadecimal(opcode)) at \(hexadecimal(address))"
            case .unfinished(let address): "not finished, at \(hexadecimal(address))"
            }
        }
    }

    /// The registers.
    public var processor = Processor()
    private var memory = AddressSpace()

    /// A machine with zeroed memory.
    public init() {}

    /// The memory.
    public subscript(address: UInt16) -> UInt8 {
        get { memory.ram[address] }
        set { memory.ram[address] = newValue }
    }

    /// Loads a program into memory.
    public func load(_ program: Program) { memory.ram.store(program.bytes, at: program.loadAddress) }

    /// Executes one instruction.
    ///
    /// - Returns: its cycles, or nil if its opcode is undocumented; nothing is changed then.
    public func step() -> Int? {
        let cycles = processor.step(&memory)
        return cycles == 0 ? nil : cycles
    }

    /// Enters the interrupt routine, if interrupts are enabled; 7 cycles.
    ///
    /// - Returns: whether it did.
    public func interrupt() -> Bool {
        guard !processor.interruptDisable else { return false }
        processor.interrupt(through: Processor.Vector.interrupt, &memory)
        return true
    }

    /// Enters the NMI routine; 7 cycles.
    public func nonMaskableInterrupt() { processor.interrupt(through: Processor.Vector.nonMaskable, &memory) }

    /// Runs a test program until it jumps to itself.
    ///
    /// - Parameters:
    ///   - start: where it begins.
    ///   - success: the address of the endless loop that means success.
    ///   - cycles: the maximum number of cycles.
    public func runTest(from start: UInt16, success: UInt16, atMost cycles: Int = 10_000_000_000) -> Outcome {
        processor.programCounter = start
        var total = 0
        while total < cycles {
            let address = processor.programCounter
            let taken = processor.step(&memory)
            guard taken > 0 else { return .undocumentedOpcode(memory.ram[address], at: address) }
            total += taken
            guard processor.programCounter == address else { continue }
            return address == success ? .success(cycles: total) : .trapped(at: address)
        }
        return .unfinished(at: processor.programCounter)
    }
}
