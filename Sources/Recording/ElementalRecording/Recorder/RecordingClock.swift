internal import Support

/// The time of a recording: the wall clock's when it began, and from then on that of a monotonic clock that goes on while
/// the machine sleeps.
struct RecordingClock: Sendable {
    /// The name of the monotonic clock.
    let name: String
    /// The wall clock at the beginning, in nanoseconds since 1970.
    let start: UInt64
    /// The time since the beginning, in nanoseconds.
    let elapsed: @Sendable () -> UInt64

    /// The time of a message that comes now.
    var now: UInt64 { start &+ elapsed() }
}

extension RecordingClock {
    init() {
        let beginning = ContinuousClock.now
        #if canImport(Darwin)
        let name = "mach_continuous_time"
        #else
        let name = "CLOCK_BOOTTIME"
        #endif
        self.init(name: name, start: WallClock.nanoseconds) {
            UInt64(max(0, (ContinuousClock.now - beginning).nanoseconds))
        }
    }
}
