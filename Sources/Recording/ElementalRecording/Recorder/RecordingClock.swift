internal import Support

/// The time of a recording: the wall clock's when it began, and from then on that of a clock that nobody sets and that
/// goes on while the machine sleeps.
struct RecordingClock: Sendable {
    /// The name of the clock that nobody sets.
    let name: String
    /// The wall clock at the beginning, in nanoseconds since 1970.
    let start: UInt64
    /// The time since the beginning, in nanoseconds.
    let elapsed: @Sendable () -> UInt64

    init() {
        let beginning = ContinuousClock.now
        #if canImport(Darwin)
        name = "mach_continuous_time"
        #else
        name = "CLOCK_BOOTTIME"
        #endif
        start = WallClock.nanoseconds
        elapsed = { UInt64(max(0, (ContinuousClock.now - beginning).nanoseconds)) }
    }

    /// For tests.
    init(start: UInt64, elapsed: @escaping @Sendable () -> UInt64) {
        name = "test"
        self.start = start
        self.elapsed = elapsed
    }

    /// The time of a message that comes now.
    var now: UInt64 { start &+ elapsed() }

    /// How far the wall clock is from where it would be had nobody set it since the beginning, in nanoseconds.
    var wallClockStep: Int64 { Int64(bitPattern: WallClock.nanoseconds &- now) }
}
