import Support

/// The system's monotonic clock, read without a system call and without an allocation.
enum MonotonicClock {
    /// Nanoseconds since an arbitrary point in the past.
    static var nanoseconds: UInt64 {
        #if canImport(Darwin)
        return clock_gettime_nsec_np(CLOCK_UPTIME_RAW)
        #else
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        #endif
    }

    /// Seconds from one reading to a later one; 0 if it is not later.
    static func seconds(from first: UInt64, to last: UInt64) -> Double {
        last > first ? Double(last - first) / 1e9 : 0
    }
}

/// The CPU time of this process.
enum ProcessorTime {
    /// Seconds of CPU time that all threads of the process have used so far, user and system.
    static var seconds: Double {
        var usage = rusage()
        #if canImport(Glibc)
        getrusage(RUSAGE_SELF.rawValue, &usage)
        #else
        getrusage(RUSAGE_SELF, &usage)
        #endif
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
