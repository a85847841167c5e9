/// A 6526 (CIA): two ports, two timers and an interrupt. The time-of-day clock and the shift register are missing.
struct InterfaceChip {
    private enum Interrupt {
        static let timerA: UInt8 = 0x01
        static let timerB: UInt8 = 0x02
        static let any: UInt8 = 0x80
    }

    /// The external inputs of port A; a line that nothing pulls low reads 1.
    var inputA: UInt8 = 0xFF
    /// The same for port B.
    var inputB: UInt8 = 0xFF
    private var portA: UInt8 = 0
    private var portB: UInt8 = 0
    private var directionA: UInt8 = 0
    private var directionB: UInt8 = 0
    private var timerA = IntervalTimer()
    private var timerB = IntervalTimer()
    private var mask: UInt8 = 0
    private var raised: UInt8 = 0
    private var wasInterrupting = false

    /// The levels that port A drives; lines that are inputs are 1.
    var outputA: UInt8 { portA | ~directionA }
    /// The same for port B.
    var outputB: UInt8 { portB | ~directionB }
    /// The lines of port B that are outputs and 1.
    var drivenB: UInt8 { portB & directionB }
    var nextEvent: UInt64 { min(timerA.nextUnderflow, timerB.nextUnderflow) }
    /// Whether the chip pulls its interrupt line low.
    var isInterrupting: Bool { raised & mask != 0 }

    /// Whether the interrupt line has gone low since the last call.
    mutating func takeInterruptEdge() -> Bool {
        defer { wasInterrupting = isInterrupting }
        return isInterrupting && !wasInterrupting
    }

    mutating func read(_ register: Int, at clock: UInt64) -> UInt8 {
        advance(to: clock)
        switch register {
        case 0x0: return outputA & inputA
        case 0x1: return outputB & inputB
        case 0x2: return directionA
        case 0x3: return directionB
        case 0x4: return UInt8(truncatingIfNeeded: timerA.value(at: clock))
        case 0x5: return UInt8(timerA.value(at: clock) >> 8)
        case 0x6: return UInt8(truncatingIfNeeded: timerB.value(at: clock))
        case 0x7: return UInt8(timerB.value(at: clock) >> 8)
        case 0xD:
            defer { raised = 0 }
            return raised | (isInterrupting ? Interrupt.any : 0)
        case 0xE: return timerA.control
        case 0xF: return timerB.control
        default: return 0
        }
    }

    mutating func write(_ value: UInt8, to register: Int, at clock: UInt64) {
        advance(to: clock)
        switch register {
        case 0x0: portA = value
        case 0x1: portB = value
        case 0x2: directionA = value
        case 0x3: directionB = value
        case 0x4: timerA.latch = timerA.latch & 0xFF00 | UInt16(value)
        case 0x5: timerA.setLatchHigh(value)
        case 0x6: timerB.latch = timerB.latch & 0xFF00 | UInt16(value)
        case 0x7: timerB.setLatchHigh(value)
        case 0xD: mask = value & 0x80 != 0 ? mask | (value & 0x1F) : mask & ~value
        case 0xE: timerA.setControl(value, source: value >> 5 & 0x01, at: clock)
        case 0xF: timerB.setControl(value, source: value >> 5 & 0x03, at: clock)
        default: break
        }
    }

    /// Advances the timers to the given time.
    mutating func advance(to clock: UInt64) {
        while true {
            let time = nextEvent
            guard time <= clock else { return }
            if timerB.nextUnderflow == time {
                timerB.underflow(at: time)
                raised |= Interrupt.timerB
            }
            if timerA.nextUnderflow == time {
                timerA.underflow(at: time)
                raised |= Interrupt.timerA
                if timerB.countUnderflow(at: time) { raised |= Interrupt.timerB }
            }
        }
    }
}
