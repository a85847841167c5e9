internal import Support

/// The time of day, in which OSC's time tags are.
enum WallClock {
    /// Nanoseconds since 1970.
    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(time.tv_sec, 0)) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
