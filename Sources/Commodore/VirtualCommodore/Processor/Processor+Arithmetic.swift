// The operations of instructions on an operand.
extension Processor {
    @inline(__always)
    mutating func load(_ address: UInt16, _ memory: inout AddressSpace) -> UInt8 {
        let value = memory.read(address)
        setResult(value)
        return value
    }

    @inline(__always)
    mutating func and(_ address: UInt16, _ memory: inout AddressSpace) {
        a &= memory.read(address)
        setResult(a)
    }

    @inline(__always)
    mutating func or(_ address: UInt16, _ memory: inout AddressSpace) {
        a |= memory.read(address)
        setResult(a)
    }

    @inline(__always)
    mutating func exclusiveOr(_ address: UInt16, _ memory: inout AddressSpace) {
        a ^= memory.read(address)
        setResult(a)
    }

    @inline(__always)
    mutating func testBits(_ address: UInt16, _ memory: inout AddressSpace) {
        let value = memory.read(address)
        negativeSource = value
        overflow = value & Flag.overflow != 0
        zeroSource = a & value
    }

    @inline(__always)
    mutating func compare(_ register: UInt8, _ address: UInt16, _ memory: inout AddressSpace) {
        let value = memory.read(address)
        carry = register >= value ? 1 : 0
        setResult(register &- value)
    }

    mutating func add(_ address: UInt16, _ memory: inout AddressSpace) {
        let value = memory.read(address)
        let sum = UInt16(a) + UInt16(value) + UInt16(carry)
        guard decimal else {
            overflow = ~(a ^ value) & (a ^ UInt8(truncatingIfNeeded: sum)) & 0x80 != 0
            carry = UInt8(sum >> 8)
            a = UInt8(truncatingIfNeeded: sum)
            setResult(a)
            return
        }
        // On the NMOS chips Z is that of the binary sum; N and V are those of the sum with only the low digit
        // corrected (Bruce Clark, "Decimal Mode", appendix A).
        var low = UInt16(a & 0x0F) + UInt16(value & 0x0F) + UInt16(carry)
        if low > 9 { low = ((low + 6) & 0x0F) + 0x10 }
        var result = UInt16(a & 0xF0) + UInt16(value & 0xF0) + low
        zeroSource = UInt8(truncatingIfNeeded: sum)
        negativeSource = UInt8(truncatingIfNeeded: result)
        overflow = ~(a ^ value) & (a ^ UInt8(truncatingIfNeeded: result)) & 0x80 != 0
        if result >= 0xA0 { result += 0x60 }
        carry = result >= 0x100 ? 1 : 0
        a = UInt8(truncatingIfNeeded: result)
    }

    mutating func subtract(_ address: UInt16, _ memory: inout AddressSpace) {
        let value = memory.read(address)
        let difference = Int(a) - Int(value) - Int(1 - carry)
        let binary = UInt8(truncatingIfNeeded: difference)
        var result = binary
        if decimal {
            // All flags are those of the binary difference.
            var low = Int(a & 0x0F) - Int(value & 0x0F) - Int(1 - carry)
            if low < 0 { low = ((low - 6) & 0x0F) - 0x10 }
            var corrected = Int(a & 0xF0) - Int(value & 0xF0) + low
            if corrected < 0 { corrected -= 0x60 }
            result = UInt8(truncatingIfNeeded: corrected)
        }
        overflow = (a ^ value) & (a ^ binary) & 0x80 != 0
        carry = difference >= 0 ? 1 : 0
        setResult(binary)
        a = result
    }

    @inline(__always)
    mutating func shiftedLeft(_ value: UInt8) -> UInt8 {
        carry = value >> 7
        setResult(value << 1)
        return value << 1
    }

    @inline(__always)
    mutating func shiftedRight(_ value: UInt8) -> UInt8 {
        carry = value & 1
        setResult(value >> 1)
        return value >> 1
    }

    @inline(__always)
    mutating func rotatedLeft(_ value: UInt8) -> UInt8 {
        let result = value << 1 | carry
        carry = value >> 7
        setResult(result)
        return result
    }

    @inline(__always)
    mutating func rotatedRight(_ value: UInt8) -> UInt8 {
        let result = value >> 1 | carry << 7
        carry = value & 1
        setResult(result)
        return result
    }

    @inline(__always)
    mutating func changed(_ value: UInt8, by difference: UInt8) -> UInt8 {
        let result = value &+ difference
        setResult(result)
        return result
    }

    /// Writes as a read-modify-write instruction does: the old value, then the new one. Programs rely on it:
    /// `ASL $D019` acknowledges an interrupt by its first write.
    @inline(__always)
    func store(_ value: UInt8, over old: UInt8, _ address: UInt16, _ memory: inout AddressSpace) {
        memory.write(old, to: address)
        memory.write(value, to: address)
    }

    @inline(__always)
    mutating func shiftLeft(_ address: UInt16, _ memory: inout AddressSpace) {
        let old = memory.read(address)
        store(shiftedLeft(old), over: old, address, &memory)
    }

    @inline(__always)
    mutating func shiftRight(_ address: UInt16, _ memory: inout AddressSpace) {
        let old = memory.read(address)
        store(shiftedRight(old), over: old, address, &memory)
    }

    @inline(__always)
    mutating func rotateLeft(_ address: UInt16, _ memory: inout AddressSpace) {
        let old = memory.read(address)
        store(rotatedLeft(old), over: old, address, &memory)
    }

    @inline(__always)
    mutating func rotateRight(_ address: UInt16, _ memory: inout AddressSpace) {
        let old = memory.read(address)
        store(rotatedRight(old), over: old, address, &memory)
    }

    @inline(__always)
    mutating func change(_ address: UInt16, by difference: UInt8, _ memory: inout AddressSpace) {
        let old = memory.read(address)
        store(changed(old, by: difference), over: old, address, &memory)
    }
}
