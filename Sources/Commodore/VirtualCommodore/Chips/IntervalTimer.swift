/// One of the two timers of a 6526, which counts down processor cycles.
///
/// It is not stepped: its value is computed from the clock.
struct IntervalTimer {
    /// The value that is loaded after 0.
    var latch: UInt16 = 0xFFFF
    /// The control register; the load bit is never stored.
    private(set) var control: UInt8 = 0
    /// The counter's value at `since`.
    private var counter: UInt16 = 0xFFFF
    private var since: UInt64 = 0
    /// Whether it counts the other timer's underflows instead of cycles.
    private var isChained = false

    private var isRunning: Bool { control & 0x01 != 0 }
    private var isOneShot: Bool { control & 0x08 != 0 }

    /// When the counter passes 0 next, if nothing changes.
    var nextUnderflow: UInt64 { isRunning && !isChained ? since + UInt64(counter) + 1 : .max }

    func value(at clock: UInt64) -> UInt16 {
        guard isRunning, !isChained else { return counter }
        return counter &- UInt16(truncatingIfNeeded: clock - since)
    }

    /// Writes the control register.
    ///
    /// - Parameter source: the register's bits for the counted source: 0 for cycles, 2 for the other timer's
    ///   underflows. The other sources are pins on which nothing happens.
    mutating func setControl(_ value: UInt8, source: UInt8, at clock: UInt64) {
        counter = self.value(at: clock)
        since = clock
        if value & 0x10 != 0 { counter = latch }
        control = value & ~0x10
        isChained = source != 0
    }

    /// Writes the latch's high byte, which a stopped timer loads at once.
    mutating func setLatchHigh(_ value: UInt8) {
        latch = latch & 0x00FF | UInt16(value) << 8
        if !isRunning { counter = latch }
    }

    /// Continues after an underflow.
    mutating func underflow(at time: UInt64) {
        counter = latch
        since = time
        if isOneShot { control &= ~0x01 }
    }

    /// Counts one underflow of the other timer.
    ///
    /// - Returns: whether this timer underflowed as well.
    mutating func countUnderflow(at time: UInt64) -> Bool {
        guard isRunning, isChained else { return false }
        guard counter == 0 else {
            counter -= 1
            return false
        }
        underflow(at: time)
        return true
    }
}
