import Foundation
import TestSupport
import Testing

/// The effects of setting the system's clock. Only on request, because it sets this machine's clock.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["ELEMENTAL_SET_CLOCK"] != nil,
        "it sets this machine's clock for some seconds: Tests/run --set-clock"),
    .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? "")))
struct ClockTests {
    /// The machine's clock, which is restored in every case.
    private struct SystemClock {
        private let time = Self.now(CLOCK_REALTIME)
        private let start = Self.now(CLOCK_MONOTONIC)

        private static func now(_ clock: clockid_t) -> timespec {
            var time = timespec()
            clock_gettime(clock, &time)
            return time
        }

        func set(ahead seconds: Int) throws {
            let now = Self.now(CLOCK_MONOTONIC)
            var time = time
            time.tv_sec += now.tv_sec - start.tv_sec + seconds
            time.tv_nsec += now.tv_nsec - start.tv_nsec
            while time.tv_nsec < 0 { (time.tv_sec, time.tv_nsec) = (time.tv_sec - 1, time.tv_nsec + 1_000_000_000) }
            while time.tv_nsec >= 1_000_000_000 {
                (time.tv_sec, time.tv_nsec) = (time.tv_sec + 1, time.tv_nsec - 1_000_000_000)
            }
            guard clock_settime(CLOCK_REALTIME, &time) == 0 else {
                throw TestSupportError("the clock cannot be set: \(String(cString: strerror(errno)))")
            }
        }
    }

    @Test("the clock is set an hour ahead, then an hour back: nothing is lost, late or timed out")
    func theClockIsSet() async throws {
        try await Ledgers.with(heartbeat: 0.5) { ledgers in
            let clock = SystemClock()
            do {
                for seconds in [3600, -3600, 0] {
                    let before = Date()
                    try clock.set(ahead: seconds)
                    let jump = Date().timeIntervalSince(before)
                    #expect(abs(jump) > 3000)
                    // For 3 s: longer than a silent peer would live.
                    try await ledgers.client.pass(150)
                }
            } catch {
                try clock.set(ahead: 0)
                throw error
            }
            for account in try await ledgers.close() {
                account.expectUndisturbed()
                #expect(account.datagrams.lost == 0)
                // A number every 20 ms each way, all the while.
                #expect(account.client.int("downReceived") > 300)
                #expect(account.service.int("upReceived") > 300)
            }
        }
    }
}
