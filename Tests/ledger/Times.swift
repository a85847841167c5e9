import Elemental
import Foundation
import Support

/// A service and a client that compare the times of values with the truth.
///
/// The service's clock is that of `other-clock.c`, the client's is the true one.
enum Times {
    static let ask = Element<Bool>(1, "Ask", access: .write)
    /// The true time in microseconds, with the time of the service's clock.
    static let stamp = Element<Int64>(2, "Stamp", access: .read).withTimes
    static let all: ElementCatalogue = [ask, stamp]

    /// Nanoseconds of the clock that `other-clock.c` leaves as it is.
    private static func truth() throws -> Int64 {
        var time = timespec()
        guard clock_gettime(clockid_t(1000), &time) == 0 else { throw ElementalError(.cancelled, "no other clock") }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func serve(name: String) async throws {
        _ = try truth()
        let service = ElementalService("ledger", displayName: name, elements: all)
        service.onEvent { if case .published(let name) = $0 { Ledger.say("published", ["name": name]) } }
        service.onValue(of: ask) { _, device in
            // Until nothing came between the two clocks.
            for _ in 0..<100 {
                guard let before = try? truth() else { return }
                let time = MeasurementTime.now
                guard let after = try? truth(), after - before < 10_000 else { continue }
                try? device.send((before + after) / 2000, to: stamp, at: time)
                return
            }
        }
        try await service.start()
        for await _ in Ledger.inputLines() {}
        await service.stop()
    }

    /// Asks for times until there are so many, and for as long as the estimates need and so long again; prints the tally.
    static func compare(service: String, count: Int, seconds: Double) async throws {
        let tally = Locked(TimeTally())
        let found = try await ElementalBrowser("ledger").firstService(named: service, timeout: .seconds(600))
        let device = try await found.connect(as: "times", elements: all) { device in
            device.onTimedValue(of: stamp) { truth, received, _ in tally.withLock { $0.take(truth, received) } }
        }
        let begin = ContinuousClock.now
        while tally.withLock({ $0.count }) < count || ContinuousClock.now - begin < .seconds(seconds) {
            try device.send(true, to: ask)
            await Ledger.pause(until: .now + .milliseconds(1))
            if ContinuousClock.now - begin > .seconds(90) { tally.withLock { $0.isSettled = true } }
        }
        let drift = device.clock?.drift ?? 0
        Ledger.say("times", tally.withLock { $0.members }.merging(["drift": drift]) { $1 })
        await device.close()
    }
}

private struct TimeTally {
    var count = 0
    /// Values without a time: those from before the first exchange.
    var unknown = 0
    /// Values whose true time is not within the error.
    var outside = 0
    /// The estimates have had the time that they need.
    var isSettled = false
    /// Microseconds by which the estimates since then are wrong.
    var settled: [Int64] = []
    var largestError = 0.0

    mutating func take(_ truth: Int64, _ received: ReceivedTime?) {
        guard let received else { return unknown += 1 }
        count += 1
        let difference = abs(received.time.microseconds - truth)
        let error = received.error / .microseconds(1)
        // The service reads the two clocks within 10 µs of each other.
        if Double(difference) > error + 10 { outside += 1 }
        largestError = max(largestError, error)
        if isSettled { settled.append(difference) }
    }

    var members: [String: any Sendable] {
        let sorted = settled.sorted()
        let p99 = sorted.isEmpty ? -1 : sorted[(sorted.count - 1) * 99 / 100]
        return [
            "count": count, "unknown": unknown, "outside": outside, "settled": sorted.count, "p99": p99,
            "largestError": largestError,
        ]
    }
}
