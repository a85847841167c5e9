import CLinux
import ElementalWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// This machine's clocks, read at one moment.
struct MachineClock: Hashable {
    /// Nanoseconds since the machine's start, sleep included. Setting the time of day does not change it.
    var time: Int64
    /// Nanoseconds to add to ``time`` for the time since 1970; 0 if the time of day is not synchronised.
    var anchor: Int64
    /// How many milliseconds the machine has slept since its start; wraps around.
    var slept: UInt32

    static var now: MachineClock {
        MachineClock(time: time, anchor: clinux_is_clock_synchronised() ? day : 0, slept: slept)
    }

    /// Nanoseconds to add to ``time`` for the time since 1970 by this machine's time of day, synchronised or not.
    static var day: Int64 {
        var (difference, narrowest) = (Int64(0), Int64.max)
        for _ in 0..<5 {
            let (before, day, after) = (time, nanoseconds(CLOCK_REALTIME), time)
            let width = after - before
            if width < narrowest { (difference, narrowest) = (day - before - width / 2, width) }
            // A longer gap may mean that the thread was preempted in between.
            if width < 1000 { break }
        }
        return difference
    }

    /// Only ``slept``.
    static var slept: UInt32 {
        var (before, running) = (Int64(0), Int64(0))
        for _ in 0..<5 {
            (before, running) = (nanoseconds(elapsed), nanoseconds(awake))
            // A longer gap means that the thread was preempted in between; the machine did not sleep.
            if nanoseconds(elapsed) - before < 1_000_000 { break }
        }
        return UInt32(truncatingIfNeeded: (before - running) / 1_000_000)
    }

    /// Identifies this start of the machine: 16 bytes.
    static let start: [UInt8] = {
        var text: String?
        #if os(Linux)
        text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #endif
        let bytes = text.flatMap { $0.filter(\.isHexDigit)[...].hexadecimalBytes }
        // Without the system's identifier, each start of the program counts as a start of the machine.
        return bytes?.count == 16 ? bytes ?? [] : (0..<16).map { _ in .random(in: 0...255) }
    }()

    /// Only ``time``.
    static var time: Int64 { nanoseconds(elapsed) }

    #if os(Linux)
    private static let (elapsed, awake) = (CLOCK_BOOTTIME, CLOCK_MONOTONIC)
    #else
    private static let (elapsed, awake) = (CLOCK_MONOTONIC, CLOCK_UPTIME_RAW)
    #endif

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
