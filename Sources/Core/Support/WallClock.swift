/// The time of day.
package enum WallClock {
    /// Nanoseconds since 1970.
    package static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Seconds since 1970, in whole microseconds, because a `Double` cannot hold more digits.
    package static var seconds: Double { Double(nanoseconds / 1000) / 1e6 }
}
