/// The television standard that a machine is built for, and with it all its times.
public enum VideoStandard: Sendable, Hashable, CaseIterable {
    /// 50 pictures a second.
    case pal
    /// 60 pictures a second.
    case ntsc

    /// The processor's cycles in a second.
    public var cyclesPerSecond: Int { self == .pal ? 985_248 : 1_022_727 }
    /// The lines of a picture, those outside of the screen too.
    public var linesPerFrame: Int { self == .pal ? 312 : 263 }
    /// The processor's cycles in a line.
    public var cyclesPerLine: Int { self == .pal ? 63 : 65 }
    /// The processor's cycles in a picture.
    public var cyclesPerFrame: Int { linesPerFrame * cyclesPerLine }

    /// What the KERNAL writes into CIA 1's timer A for 60 interrupts a second.
    var jiffyTimerLatch: UInt16 { self == .pal ? 0x4025 : 0x4295 }
}
