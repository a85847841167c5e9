/// The television standard of a machine, which determines its timing.
public enum VideoStandard: Sendable, Hashable, CaseIterable {
    /// 50 frames per second.
    case pal
    /// 60 frames per second.
    case ntsc

    /// Processor cycles per second.
    public var cyclesPerSecond: Int { self == .pal ? 985_248 : 1_022_727 }
    /// The lines of a frame, including those outside the screen.
    public var linesPerFrame: Int { self == .pal ? 312 : 263 }
    /// Processor cycles per line.
    public var cyclesPerLine: Int { self == .pal ? 63 : 65 }
    /// Processor cycles per frame.
    public var cyclesPerFrame: Int { linesPerFrame * cyclesPerLine }

    /// What the KERNAL writes into CIA 1's timer A for 60 interrupts a second.
    var jiffyTimerLatch: UInt16 { self == .pal ? 0x4025 : 0x4295 }
}
