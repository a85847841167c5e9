/// The registers of a 6510, the 6502 of the Commodore 64.
///
/// It implements every documented instruction, NMOS decimal mode, the cycles of each instruction and the bugs of the
/// original (an indirect JMP does not cross a page). It reads and writes through an ``AddressSpace``.
public struct Processor: Sendable, Hashable {
    /// The accumulator.
    public var a: UInt8 = 0
    /// The index register X.
    public var x: UInt8 = 0
    /// The index register Y.
    public var y: UInt8 = 0
    /// The stack pointer, the low byte of an address in $0100...$01FF.
    public var stackPointer: UInt8 = 0xFF
    /// The address of the next instruction.
    public var programCounter: UInt16 = 0

    /// The carry flag, 0 or 1.
    var carry: UInt8 = 0
    /// Its bit 7 is the negative flag.
    var negativeSource: UInt8 = 0
    /// The zero flag is set while this is 0.
    var zeroSource: UInt8 = 1
    var overflow = false
    var decimal = false
    var interruptDisable = true

    /// Whether interrupts were disabled when the current instruction polled for them: CLI, SEI and PLP take effect one
    /// instruction late.
    var areInterruptsMasked = true
    /// The extra cycle of the current instruction's indexed read if it crosses a page.
    var crossing = 0

    init() {}

    /// The bits of the status register.
    enum Flag {
        static let carry: UInt8 = 0x01
        static let zero: UInt8 = 0x02
        static let interruptDisable: UInt8 = 0x04
        static let decimal: UInt8 = 0x08
        static let break_: UInt8 = 0x10
        static let unused: UInt8 = 0x20
        static let overflow: UInt8 = 0x40
        static let negative: UInt8 = 0x80
    }

    /// The status register as PHP would push it, without its break bit: NV1-DIZC, bit 7 first.
    public var status: UInt8 {
        get {
            var bits = Flag.unused | carry | (negativeSource & Flag.negative)
            if zeroSource == 0 { bits |= Flag.zero }
            if interruptDisable { bits |= Flag.interruptDisable }
            if decimal { bits |= Flag.decimal }
            if overflow { bits |= Flag.overflow }
            return bits
        }
        set {
            carry = newValue & Flag.carry
            zeroSource = newValue & Flag.zero == 0 ? 1 : 0
            interruptDisable = newValue & Flag.interruptDisable != 0
            decimal = newValue & Flag.decimal != 0
            overflow = newValue & Flag.overflow != 0
            negativeSource = newValue & Flag.negative
        }
    }

    @inline(__always)
    mutating func setResult(_ value: UInt8) {
        negativeSource = value
        zeroSource = value
    }
}
