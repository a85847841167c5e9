import NIOCore
import Testing

@testable import Elemental

/// Limits per second, with given times.
struct RateLimitTests {
    private static func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000_000) + .milliseconds(milliseconds)
    }

    /// Attempts to take from a limit: at that time in milliseconds, whether they succeed, and how many there are.
    private typealias Attempts = (time: Int64, succeed: Bool, count: Int)

    /// With a limit of 5 per second.
    private static let attempts: [[Attempts]] = [
        [(0, true, 5), (0, false, 1)],
        // One becomes available every 200 ms.
        [(0, true, 5), (199, false, 1), (200, true, 1), (200, false, 1), (400, true, 1)],
        // All five are available after a second, and no more after a longer pause.
        [(0, true, 5), (1000, true, 5), (1000, false, 1), (90_000, true, 5), (90_000, false, 1)],
        // A refused attempt costs nothing.
        [(0, true, 5), (100, false, 50), (200, true, 1)],
        // A steady flow at the limit passes.
        (0..<100).map { (Int64($0) * 200, true, 1) },
    ]

    @Test(arguments: attempts.indices)
    func aSecondAllowsItsNumber(_ place: Int) {
        let takes = Self.attempts[place].flatMap { Array(repeating: ($0.time, $0.succeed), count: $0.count) }
        var limit = RateLimit(perSecond: 5)
        #expect(limit.isFull(at: Self.time(0)))
        for (index, (milliseconds, isThere)) in takes.enumerated() {
            let time = Self.time(milliseconds)
            #expect(limit.allows(at: time) == isThere, "take \(index)")
            let isTaken = limit.take(at: time)
            #expect(isTaken == isThere, "take \(index)")
            #expect(!limit.isFull(at: time))
        }
        #expect(limit.isFull(at: Self.time(1_000_000)))
    }

    @Test
    func eachKeyHasItsOwn() {
        var limits = RateLimits<String> { _ in 2 }
        for _ in 0..<3 { limits.take(["a"], at: Self.time(0)) }
        #expect(!limits.allows(["a"], at: Self.time(499)))
        #expect(limits.allows(["a"], at: Self.time(500)))
        #expect(limits.allows(["b"], at: Self.time(0)))
        #expect(limits.count == 1)
    }

    @Test
    func keysAreForgottenOnceTheyAreManyAndAllIsAvailableAgain() {
        var limits = RateLimits<Int> { _ in 1 }
        for key in 0..<64 { limits.take([key], at: Self.time(0)) }
        #expect(limits.count == 64)
        // A 65th causes a search, which finds no key to forget.
        limits.take([64], at: Self.time(999))
        #expect(limits.count == 65)
        // The next search comes at twice that count and leaves only the latest key.
        for key in 65..<130 { limits.take([key], at: Self.time(1000)) }
        #expect(limits.count == 130)
        limits.take([130], at: Self.time(2000))
        #expect(limits.count == 1)
        // Forgotten keys start anew; the remaining one keeps its count.
        #expect(limits.allows([0], at: Self.time(2000)))
        #expect(!limits.allows([130], at: Self.time(2000)))
    }
}
