/// The parts of the KERNAL's ROM that programs use: addresses, and the few bytes that they read. No ROM is shipped.
enum KernalROM {
    /// The default routines behind the vectors from $0314 on.
    static let vectors: [UInt16] = [
        Entry.interruptRoutine, Entry.breakRoutine, Entry.nonMaskableRoutine, Entry.open, Entry.close, Entry.chkin,
        Entry.chkout, Entry.clrchn, Entry.chrin, Entry.chrout, Entry.stop, Entry.getin, Entry.clall,
        Entry.breakRoutine, Entry.load, Entry.save,
    ]

    /// The byte at an address: at the end the processor's vectors for NMI, reset and IRQ, 0 elsewhere.
    static func byte(at address: UInt16) -> UInt8 {
        let vector: UInt16 =
            switch address & 0xFFFE {
            case 0xFFFA: Entry.nonMaskable
            case 0xFFFC: Entry.reset
            case 0xFFFE: Entry.interrupt
            default: 0
            }
        return UInt8(truncatingIfNeeded: address & 1 == 0 ? vector : vector >> 8)
    }

    /// The addresses of routines that are not in the jump table at $FF81.
    enum Entry {
        static let interrupt: UInt16 = 0xFF48
        static let interruptRoutine: UInt16 = 0xEA31
        static let interruptEnd: UInt16 = 0xEA81
        static let nonMaskable: UInt16 = 0xFE43
        static let nonMaskableRoutine: UInt16 = 0xFE47
        static let breakRoutine: UInt16 = 0xFE66
        static let reset: UInt16 = 0xFCE2
        static let open: UInt16 = 0xF34A
        static let close: UInt16 = 0xF291
        static let chkin: UInt16 = 0xF20E
        static let chkout: UInt16 = 0xF250
        static let clrchn: UInt16 = 0xF333
        static let chrin: UInt16 = 0xF157
        static let chrout: UInt16 = 0xF1CA
        static let stop: UInt16 = 0xF6ED
        static let getin: UInt16 = 0xF13E
        static let clall: UInt16 = 0xF32F
        static let load: UInt16 = 0xF4A5
        static let save: UInt16 = 0xF5ED
        /// The return address of a program started by SYS.
        static let basicAfterSys: UInt16 = 0xE147
    }
}
