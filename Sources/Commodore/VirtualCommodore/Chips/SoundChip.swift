/// The SID's registers. There is no sound output: writes can be read back and are logged.
struct SoundChip {
    /// The maximum number of logged writes.
    static let longestLog = 65_536

    /// The 29 writable registers from $D400.
    private(set) var registers = [UInt8](repeating: 0, count: 29)
    private(set) var log: [SoundWrite] = []
    /// How many writes did not fit into the log.
    private(set) var unloggedCount = 0

    func read(_ register: Int, at clock: UInt64) -> UInt8 {
        switch register {
        case 0x19, 0x1A: return 0xFF
        case 0x1B:
            // Programs use voice 3's noise for random numbers.
            var bits = clock &* 0x9E37_79B9_7F4A_7C15
            bits = (bits ^ bits >> 29) &* 0xBF58_476D_1CE4_E5B9
            return UInt8(truncatingIfNeeded: bits >> 56)
        default: return 0
        }
    }

    mutating func write(_ value: UInt8, to register: Int, at clock: UInt64) {
        guard register < registers.count else { return }
        registers[register] = value
        guard log.count < Self.longestLog else {
            unloggedCount += 1
            return
        }
        log.append(SoundWrite(cycle: clock, register: register, value: value))
    }

    /// Empties the log and returns its content.
    mutating func takeLog() -> [SoundWrite] {
        defer {
            log = []
            unloggedCount = 0
        }
        return log
    }
}

/// One write to the SID.
public struct SoundWrite: Sendable, Hashable {
    /// The time of the write, in cycles since the machine was switched on.
    public let cycle: UInt64
    /// The register, 0 (at $D400) to 28.
    public let register: Int
    /// The written value.
    public let value: UInt8
}
