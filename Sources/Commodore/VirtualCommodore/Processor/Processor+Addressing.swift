// Addressing modes. Each fetches the operand's bytes from the program and returns an address.
extension Processor {
    @inline(__always)
    mutating func fetch(_ memory: inout AddressSpace) -> UInt8 {
        let byte = memory.read(programCounter)
        programCounter &+= 1
        return byte
    }

    @inline(__always)
    mutating func immediate() -> UInt16 {
        defer { programCounter &+= 1 }
        return programCounter
    }

    @inline(__always)
    mutating func zeroPage(_ memory: inout AddressSpace) -> UInt16 {
        UInt16(fetch(&memory))
    }

    @inline(__always)
    mutating func zeroPage(_ memory: inout AddressSpace, plus index: UInt8) -> UInt16 {
        UInt16(fetch(&memory) &+ index)
    }

    @inline(__always)
    mutating func absolute(_ memory: inout AddressSpace) -> UInt16 {
        let low = fetch(&memory)
        return UInt16(low) | UInt16(fetch(&memory)) << 8
    }

    @inline(__always)
    mutating func absolute(_ memory: inout AddressSpace, plus index: UInt8) -> UInt16 {
        indexed(absolute(&memory), by: index)
    }

    /// `(zero page,X)`
    @inline(__always)
    mutating func indexedIndirect(_ memory: inout AddressSpace) -> UInt16 {
        word(&memory, inZeroPageAt: fetch(&memory) &+ x)
    }

    /// `(zero page),Y`
    @inline(__always)
    mutating func indirectIndexed(_ memory: inout AddressSpace) -> UInt16 {
        indexed(word(&memory, inZeroPageAt: fetch(&memory)), by: y)
    }

    @inline(__always)
    private mutating func word(_ memory: inout AddressSpace, inZeroPageAt address: UInt8) -> UInt16 {
        UInt16(memory.read(UInt16(address))) | UInt16(memory.read(UInt16(address &+ 1))) << 8
    }

    @inline(__always)
    private mutating func indexed(_ base: UInt16, by index: UInt8) -> UInt16 {
        let address = base &+ UInt16(index)
        crossing = (base ^ address) & 0xFF00 == 0 ? 0 : 1
        return address
    }
}
