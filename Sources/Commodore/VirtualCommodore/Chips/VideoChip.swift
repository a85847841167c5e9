/// The VIC-II's registers, its raster counter and its interrupt.
///
/// The picture is rendered from the registers on request (see ``Commodore64/picture()``); changes between two lines of a
/// picture are not visible. Sprite collisions are not detected.
struct VideoChip {
    private enum Interrupt {
        static let raster: UInt8 = 0x01
    }

    /// Cycles that the chip takes from the processor in each line in which it reads the screen memory.
    private static let cyclesOfABadLine: UInt64 = 40

    /// The 64 registers as they were last written, from $D000.
    private(set) var registers = [UInt8](repeating: 0, count: 64)
    private let cyclesPerLine: UInt64
    private let linesPerFrame: UInt64
    private var raised: UInt8 = 0
    private var nextMatch: UInt64 = .max
    private var nextBadLine: UInt64 = 0

    init(standard: VideoStandard) {
        cyclesPerLine = UInt64(standard.cyclesPerLine)
        linesPerFrame = UInt64(standard.linesPerFrame)
        nextMatch = cyclesPerLine * linesPerFrame
        nextBadLine = 0x30 * cyclesPerLine
    }

    var nextEvent: UInt64 { min(nextMatch, nextBadLine) }
    /// Whether the chip pulls the interrupt line low.
    var isInterrupting: Bool { raised & registers[0x1A] & 0x0F != 0 }

    private var comparedLine: UInt64 { UInt64(registers[0x12]) | UInt64(registers[0x11] & 0x80) << 1 }

    private func line(at clock: UInt64) -> UInt64 { clock / cyclesPerLine % linesPerFrame }

    func read(_ register: Int, at clock: UInt64) -> UInt8 {
        switch register {
        case 0x11: registers[0x11] & 0x7F | UInt8(line(at: clock) >> 1 & 0x80)
        case 0x12: UInt8(truncatingIfNeeded: line(at: clock))
        case 0x16: registers[0x16] | 0xC0
        case 0x18: registers[0x18] | 0x01
        case 0x19: raised | 0x70 | (isInterrupting ? 0x80 : 0)
        case 0x1A: registers[0x1A] | 0xF0
        case 0x1E, 0x1F: 0
        case 0x20...0x2E: registers[register] | 0xF0
        case 0x2F...0x3F: 0xFF
        default: registers[register]
        }
    }

    mutating func write(_ value: UInt8, to register: Int, at clock: UInt64) {
        switch register {
        case 0x19: raised &= ~value
        case 0x11, 0x12:
            let before = comparedLine
            registers[register] = value
            // A comparison that becomes true in the middle of a line interrupts there.
            if comparedLine != before && comparedLine == line(at: clock) { raised |= Interrupt.raster }
            nextMatch = nextStart(of: comparedLine, after: clock)
        default: registers[register] = value
        }
    }

    /// Raises the interrupts that are due.
    ///
    /// - Returns: the cycles that the processor had to wait.
    mutating func advance(to clock: UInt64) -> UInt64 {
        if clock >= nextMatch {
            raised |= Interrupt.raster
            nextMatch = nextStart(of: comparedLine, after: clock)
        }
        guard clock >= nextBadLine else { return 0 }
        let line = line(at: nextBadLine)
        let first = 0x30 + UInt64(registers[0x11] & 0x07)
        // Every eighth line from the first; there are 25.
        let following = line >= first && line < first + 24 * 8 ? line + 8 : first
        nextBadLine = nextStart(of: following, after: clock)
        return isDisplayOn ? Self.cyclesOfABadLine : 0
    }

    /// When the given line begins next, or never if there is no such line.
    private func nextStart(of line: UInt64, after clock: UInt64) -> UInt64 {
        guard line < linesPerFrame else { return .max }
        let frame = cyclesPerLine * linesPerFrame
        let start = clock / frame * frame + line * cyclesPerLine
        return start > clock ? start : start + frame
    }

    // MARK: - Where the picture comes from

    /// A colour register's colour, 0...15.
    func colour(_ register: Int) -> UInt8 { registers[register] & 0x0F }

    /// Where the screen memory begins in the chip's 16 KiB.
    var screenOffset: UInt16 { UInt16(registers[0x18] >> 4) << 10 }
    /// Where the character set begins in the chip's 16 KiB.
    var characterOffset: UInt16 { UInt16(registers[0x18] >> 1 & 0x07) << 11 }
    /// Where the bitmap begins in the chip's 16 KiB.
    var bitmapOffset: UInt16 { UInt16(registers[0x18] >> 3 & 0x01) << 13 }

    /// Whether anything but the border is shown.
    var isDisplayOn: Bool { registers[0x11] & 0x10 != 0 }
    /// Whether there are 25 rows rather than 24.
    var hasAllRows: Bool { registers[0x11] & 0x08 != 0 }
    /// Whether there are 40 columns rather than 38.
    var hasAllColumns: Bool { registers[0x16] & 0x08 != 0 }
    /// How many points the screen is moved down; 3 is its usual place.
    var scrollY: Int { Int(registers[0x11] & 0x07) }
    /// How many points the screen is moved to the right; 0 is its usual place.
    var scrollX: Int { Int(registers[0x16] & 0x07) }
    var isExtendedColour: Bool { registers[0x11] & 0x40 != 0 }
    var isBitmap: Bool { registers[0x11] & 0x20 != 0 }
    var isMulticolour: Bool { registers[0x16] & 0x10 != 0 }
}
