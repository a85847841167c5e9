extension Processor {
    // One switch for all instructions, because it becomes one jump table: divided into a function for each group of
    // instructions, all inlined, the machine ran at 87 % of this speed.
    /// Executes the next instruction.
    ///
    /// - Returns: its cycles, or 0 if its opcode is undocumented; the processor is then unchanged.
    @inline(__always)
    mutating func step(_ memory: inout AddressSpace) -> Int {
        areInterruptsMasked = interruptDisable
        let opcode = fetch(&memory)
        switch opcode {
        // LDA
        case 0xA9:
            a = load(immediate(), &memory)
            return 2
        case 0xA5:
            a = load(zeroPage(&memory), &memory)
            return 3
        case 0xB5:
            a = load(zeroPage(&memory, plus: x), &memory)
            return 4
        case 0xAD:
            a = load(absolute(&memory), &memory)
            return 4
        case 0xBD:
            a = load(absolute(&memory, plus: x), &memory)
            return 4 + crossing
        case 0xB9:
            a = load(absolute(&memory, plus: y), &memory)
            return 4 + crossing
        case 0xA1:
            a = load(indexedIndirect(&memory), &memory)
            return 6
        case 0xB1:
            a = load(indirectIndexed(&memory), &memory)
            return 5 + crossing
        // LDX
        case 0xA2:
            x = load(immediate(), &memory)
            return 2
        case 0xA6:
            x = load(zeroPage(&memory), &memory)
            return 3
        case 0xB6:
            x = load(zeroPage(&memory, plus: y), &memory)
            return 4
        case 0xAE:
            x = load(absolute(&memory), &memory)
            return 4
        case 0xBE:
            x = load(absolute(&memory, plus: y), &memory)
            return 4 + crossing
        // LDY
        case 0xA0:
            y = load(immediate(), &memory)
            return 2
        case 0xA4:
            y = load(zeroPage(&memory), &memory)
            return 3
        case 0xB4:
            y = load(zeroPage(&memory, plus: x), &memory)
            return 4
        case 0xAC:
            y = load(absolute(&memory), &memory)
            return 4
        case 0xBC:
            y = load(absolute(&memory, plus: x), &memory)
            return 4 + crossing
        // STA
        case 0x85:
            memory.write(a, to: zeroPage(&memory))
            return 3
        case 0x95:
            memory.write(a, to: zeroPage(&memory, plus: x))
            return 4
        case 0x8D:
            memory.write(a, to: absolute(&memory))
            return 4
        case 0x9D:
            memory.write(a, to: absolute(&memory, plus: x))
            return 5
        case 0x99:
            memory.write(a, to: absolute(&memory, plus: y))
            return 5
        case 0x81:
            memory.write(a, to: indexedIndirect(&memory))
            return 6
        case 0x91:
            memory.write(a, to: indirectIndexed(&memory))
            return 6
        // STX
        case 0x86:
            memory.write(x, to: zeroPage(&memory))
            return 3
        case 0x96:
            memory.write(x, to: zeroPage(&memory, plus: y))
            return 4
        case 0x8E:
            memory.write(x, to: absolute(&memory))
            return 4
        // STY
        case 0x84:
            memory.write(y, to: zeroPage(&memory))
            return 3
        case 0x94:
            memory.write(y, to: zeroPage(&memory, plus: x))
            return 4
        case 0x8C:
            memory.write(y, to: absolute(&memory))
            return 4
        // ORA
        case 0x09:
            or(immediate(), &memory)
            return 2
        case 0x05:
            or(zeroPage(&memory), &memory)
            return 3
        case 0x15:
            or(zeroPage(&memory, plus: x), &memory)
            return 4
        case 0x0D:
            or(absolute(&memory), &memory)
            return 4
        case 0x1D:
            or(absolute(&memory, plus: x), &memory)
            return 4 + crossing
        case 0x19:
            or(absolute(&memory, plus: y), &memory)
            return 4 + crossing
        case 0x01:
            or(indexedIndirect(&memory), &memory)
            return 6
        case 0x11:
            or(indirectIndexed(&memory), &memory)
            return 5 + crossing
        // AND
        case 0x29:
            and(immediate(), &memory)
            return 2
        case 0x25:
            and(zeroPage(&memory), &memory)
            return 3
        case 0x35:
            and(zeroPage(&memory, plus: x), &memory)
            return 4
        case 0x2D:
            and(absolute(&memory), &memory)
            return 4
        case 0x3D:
            and(absolute(&memory, plus: x), &memory)
            return 4 + crossing
        case 0x39:
            and(absolute(&memory, plus: y), &memory)
            return 4 + crossing
        case 0x21:
            and(indexedIndirect(&memory), &memory)
            return 6
        case 0x31:
            and(indirectIndexed(&memory), &memory)
            return 5 + crossing
        // EOR
        case 0x49:
            exclusiveOr(immediate(), &memory)
            return 2
        case 0x45:
            exclusiveOr(zeroPage(&memory), &memory)
            return 3
        case 0x55:
            exclusiveOr(zeroPage(&memory, plus: x), &memory)
            return 4
        case 0x4D:
            exclusiveOr(absolute(&memory), &memory)
            return 4
        case 0x5D:
            exclusiveOr(absolute(&memory, plus: x), &memory)
            return 4 + crossing
        case 0x59:
            exclusiveOr(absolute(&memory, plus: y), &memory)
            return 4 + crossing
        case 0x41:
            exclusiveOr(indexedIndirect(&memory), &memory)
            return 6
        case 0x51:
            exclusiveOr(indirectIndexed(&memory), &memory)
            return 5 + crossing
        // ADC
        case 0x69:
            add(immediate(), &memory)
            return 2
        case 0x65:
            add(zeroPage(&memory), &memory)
            return 3
        case 0x75:
            add(zeroPage(&memory, plus: x), &memory)
            return 4
        case 0x6D:
            add(absolute(&memory), &memory)
            return 4
        case 0x7D:
            add(absolute(&memory, plus: x), &memory)
            return 4 + crossing
        case 0x79:
            add(absolute(&memory, plus: y), &memory)
            return 4 + crossing
        case 0x61:
            add(indexedIndirect(&memory), &memory)
            return 6
        case 0x71:
            add(indirectIndexed(&memory), &memory)
            return 5 + crossing
        // SBC
        case 0xE9:
            subtract(immediate(), &memory)
            return 2
        case 0xE5:
            subtract(zeroPage(&memory), &memory)
            return 3
        case 0xF5:
            subtract(zeroPage(&memory, plus: x), &memory)
            return 4
        case 0xED:
            subtract(absolute(&memory), &memory)
            return 4
        case 0xFD:
            subtract(absolute(&memory, plus: x), &memory)
            return 4 + crossing
        case 0xF9:
            subtract(absolute(&memory, plus: y), &memory)
            return 4 + crossing
        case 0xE1:
            subtract(indexedIndirect(&memory), &memory)
            return 6
        case 0xF1:
            subtract(indirectIndexed(&memory), &memory)
            return 5 + crossing
        // CMP
        case 0xC9:
            compare(a, immediate(), &memory)
            return 2
        case 0xC5:
            compare(a, zeroPage(&memory), &memory)
            return 3
        case 0xD5:
            compare(a, zeroPage(&memory, plus: x), &memory)
            return 4
        case 0xCD:
            compare(a, absolute(&memory), &memory)
            return 4
        case 0xDD:
            compare(a, absolute(&memory, plus: x), &memory)
            return 4 + crossing
        case 0xD9:
            compare(a, absolute(&memory, plus: y), &memory)
            return 4 + crossing
        case 0xC1:
            compare(a, indexedIndirect(&memory), &memory)
            return 6
        case 0xD1:
            compare(a, indirectIndexed(&memory), &memory)
            return 5 + crossing
        // CPX
        case 0xE0:
            compare(x, immediate(), &memory)
            return 2
        case 0xE4:
            compare(x, zeroPage(&memory), &memory)
            return 3
        case 0xEC:
            compare(x, absolute(&memory), &memory)
            return 4
        // CPY
        case 0xC0:
            compare(y, immediate(), &memory)
            return 2
        case 0xC4:
            compare(y, zeroPage(&memory), &memory)
            return 3
        case 0xCC:
            compare(y, absolute(&memory), &memory)
            return 4
        // BIT
        case 0x24:
            testBits(zeroPage(&memory), &memory)
            return 3
        case 0x2C:
            testBits(absolute(&memory), &memory)
            return 4
        // ASL
        case 0x0A:
            a = shiftedLeft(a)
            return 2
        case 0x06:
            shiftLeft(zeroPage(&memory), &memory)
            return 5
        case 0x16:
            shiftLeft(zeroPage(&memory, plus: x), &memory)
            return 6
        case 0x0E:
            shiftLeft(absolute(&memory), &memory)
            return 6
        case 0x1E:
            shiftLeft(absolute(&memory, plus: x), &memory)
            return 7
        // ROL
        case 0x2A:
            a = rotatedLeft(a)
            return 2
        case 0x26:
            rotateLeft(zeroPage(&memory), &memory)
            return 5
        case 0x36:
            rotateLeft(zeroPage(&memory, plus: x), &memory)
            return 6
        case 0x2E:
            rotateLeft(absolute(&memory), &memory)
            return 6
        case 0x3E:
            rotateLeft(absolute(&memory, plus: x), &memory)
            return 7
        // LSR
        case 0x4A:
            a = shiftedRight(a)
            return 2
        case 0x46:
            shiftRight(zeroPage(&memory), &memory)
            return 5
        case 0x56:
            shiftRight(zeroPage(&memory, plus: x), &memory)
            return 6
        case 0x4E:
            shiftRight(absolute(&memory), &memory)
            return 6
        case 0x5E:
            shiftRight(absolute(&memory, plus: x), &memory)
            return 7
        // ROR
        case 0x6A:
            a = rotatedRight(a)
            return 2
        case 0x66:
            rotateRight(zeroPage(&memory), &memory)
            return 5
        case 0x76:
            rotateRight(zeroPage(&memory, plus: x), &memory)
            return 6
        case 0x6E:
            rotateRight(absolute(&memory), &memory)
            return 6
        case 0x7E:
            rotateRight(absolute(&memory, plus: x), &memory)
            return 7
        // DEC
        case 0xC6:
            change(zeroPage(&memory), by: 0xFF, &memory)
            return 5
        case 0xD6:
            change(zeroPage(&memory, plus: x), by: 0xFF, &memory)
            return 6
        case 0xCE:
            change(absolute(&memory), by: 0xFF, &memory)
            return 6
        case 0xDE:
            change(absolute(&memory, plus: x), by: 0xFF, &memory)
            return 7
        // INC
        case 0xE6:
            change(zeroPage(&memory), by: 1, &memory)
            return 5
        case 0xF6:
            change(zeroPage(&memory, plus: x), by: 1, &memory)
            return 6
        case 0xEE:
            change(absolute(&memory), by: 1, &memory)
            return 6
        case 0xFE:
            change(absolute(&memory, plus: x), by: 1, &memory)
            return 7
        // DEX, DEY, INX, INY
        case 0xCA:
            x = changed(x, by: 0xFF)
            return 2
        case 0x88:
            y = changed(y, by: 0xFF)
            return 2
        case 0xE8:
            x = changed(x, by: 1)
            return 2
        case 0xC8:
            y = changed(y, by: 1)
            return 2
        // TAX, TXA, TAY, TYA, TSX, TXS
        case 0xAA:
            x = changed(a, by: 0)
            return 2
        case 0x8A:
            a = changed(x, by: 0)
            return 2
        case 0xA8:
            y = changed(a, by: 0)
            return 2
        case 0x98:
            a = changed(y, by: 0)
            return 2
        case 0xBA:
            x = changed(stackPointer, by: 0)
            return 2
        case 0x9A:
            stackPointer = x
            return 2
        // PHA, PLA, PHP, PLP
        case 0x48:
            push(a, &memory)
            return 3
        case 0x68:
            a = changed(pull(&memory), by: 0)
            return 4
        case 0x08:
            push(status | Flag.break_, &memory)
            return 3
        case 0x28:
            status = pull(&memory)
            return 4
        // BPL, BMI, BVC, BVS, BCC, BCS, BNE, BEQ
        case 0x10: return branch(negativeSource & 0x80 == 0, &memory)
        case 0x30: return branch(negativeSource & 0x80 != 0, &memory)
        case 0x50: return branch(!overflow, &memory)
        case 0x70: return branch(overflow, &memory)
        case 0x90: return branch(carry == 0, &memory)
        case 0xB0: return branch(carry != 0, &memory)
        case 0xD0: return branch(zeroSource != 0, &memory)
        case 0xF0: return branch(zeroSource == 0, &memory)
        // JMP, JMP indirect, JSR, RTS, BRK, RTI
        case 0x4C:
            programCounter = absolute(&memory)
            return 3
        case 0x6C:
            jumpIndirect(&memory)
            return 5
        case 0x20:
            jumpToSubroutine(&memory)
            return 6
        case 0x60:
            returnFromSubroutine(&memory)
            return 6
        case 0x00:
            breakInstruction(&memory)
            return 7
        case 0x40:
            returnFromInterrupt(&memory)
            return 6
        // CLC, SEC, CLI, SEI, CLV, CLD, SED, NOP
        case 0x18:
            carry = 0
            return 2
        case 0x38:
            carry = 1
            return 2
        case 0x58:
            interruptDisable = false
            return 2
        case 0x78:
            interruptDisable = true
            return 2
        case 0xB8:
            overflow = false
            return 2
        case 0xD8:
            decimal = false
            return 2
        case 0xF8:
            decimal = true
            return 2
        case 0xEA: return 2
        default:
            programCounter &-= 1
            return 0
        }
    }
}
