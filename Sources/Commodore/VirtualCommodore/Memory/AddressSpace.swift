/// The processor's address space: RAM, the chips at $D000, the character set, and the clock.
///
/// A flat one, for processor test programs, is 64 KiB of RAM and nothing else.
struct AddressSpace: ~Copyable {
    let ram = RAM()
    let pages = PageMap()
    private let isFlat: Bool
    let standard: VideoStandard

    /// Cycles since the machine was switched on.
    var clock: UInt64 = 0
    /// When the next event of a chip or the line is due, in cycles.
    var nextEvent: UInt64 = 0

    /// Whether a chip pulls the interrupt line low.
    var isInterruptRequested = false
    /// Whether the NMI line has gone low since the last NMI.
    var isNonMaskableRequested = false

    var video: VideoChip
    var sound = SoundChip()
    /// The chip of keyboard, joysticks and the 60 Hz interrupt.
    var cia1 = InterfaceChip()
    /// The chip of the user port and the video chip's bank.
    var cia2 = InterfaceChip()
    /// The colours of the screen's 1000 characters, 4 bits each.
    let colours = ColourRAM()
    /// The line that is plugged into the user port.
    var line: SerialLine
    /// The KERNAL's driver for it.
    var serial = SerialDriver()

    init(standard: VideoStandard, line: SerialLine) {
        isFlat = false
        self.standard = standard
        self.line = line
        video = VideoChip(standard: standard)
    }

    /// RAM alone.
    init() {
        isFlat = true
        standard = .pal
        line = SerialLine()
        video = VideoChip(standard: .pal)
    }

    @inline(__always)
    mutating func read(_ address: UInt16) -> UInt8 {
        pages.isRAM(address) ? ram[address] : readMapped(address)
    }

    @inline(__always)
    mutating func write(_ value: UInt8, to address: UInt16) {
        if pages.isRAM(address) && address > 1 { ram[address] = value } else { writeMapped(value, to: address) }
    }

    private mutating func readMapped(_ address: UInt16) -> UInt8 {
        switch pages.kind(address) {
        case .ram: ram[address]
        case .chips: readChip(address)
        case .characters: CharacterGenerator.bytes[Int(address & 0x0FFF)]
        case .basic: 0
        case .kernal: KernalROM.byte(at: address)
        }
    }

    private mutating func writeMapped(_ value: UInt8, to address: UInt16) {
        if address <= 1 && !isFlat {
            writePort(value, to: address)
        } else if pages.kind(address) == .chips {
            writeChip(value, to: address)
        } else {
            ram[address] = value
        }
    }

    /// The processor's own port at $00 (direction) and $01 (value). Lines that are inputs read as 1, except the
    /// cassette's.
    private mutating func writePort(_ value: UInt8, to address: UInt16) {
        if address == 0 { portDirection = value } else { portValue = value }
        let levels = (portValue & portDirection) | (~portDirection & 0x17)
        ram[0] = portDirection
        ram[1] = levels
        pages.configure(port: levels)
    }

    private var portDirection: UInt8 = 0x2F
    private var portValue: UInt8 = 0x37

    /// Sets the processor's port as the KERNAL does: ROMs and chips are visible.
    mutating func resetPort() {
        writePort(0x2F, to: 0)
        writePort(0x37, to: 1)
    }
}
