import TestSupport
import Testing

/// The times of values from a machine whose clock is an hour ahead and drifts by 100 ppm, over bad links, and the truth.
@Suite(.serialized, .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? "")), .backstop)
struct DriftingClockTests {
    struct Link: Sendable, CustomStringConvertible {
        var description: String
        var loss = 0.0
        var delay: Double
        var jitter = 0.0
        var hurry = 0.0
    }

    private static let links = [
        Link(description: "5 ± 3 ms", delay: 0.005, jitter: 0.003),
        Link(
            description: "5 % lost, 20 ± 15 ms, a tenth overtakes", loss: 0.05, delay: 0.02, jitter: 0.015, hurry: 0.1),
    ]

    @Test("the true time of each of 100,000 values is within its error", .long, arguments: links)
    func times(link: Link) async throws {
        try await withFolder { folder in
            let clock = "\(folder)/other-clock.so"
            _ = try await ChildProcess.run(
                "clang", ["-shared", "-fPIC", "-O2", "-o", clock, Repository.path("Tests/TestSupport/other-clock.c")])
            try await TestBed.with(hasBadLink: true) { bed in
                try await bed.impair(loss: link.loss, delay: link.delay, jitter: link.jitter, hurry: link.hurry)
                let ledger = try BuiltProduct.path(of: "ledger")
                try await bed.a.withChild(ledger, ["serve-times", "Rover"], environment: ["LD_PRELOAD": clock]) {
                    service in
                    try await service.nextEvent("published")
                    try await bed.b.withChild(ledger, ["times", "Rover", "100000", "180"]) { client in
                        let times = try await client.nextEvent("times", within: .seconds(900))
                        print("times over \(link): \(times)")
                        #expect(try #require(times.number("count")) >= 100_000)
                        #expect(times.number("outside") == 0)
                        guard link.loss == 0 else { return }
                        // It runs fast by 100 ppm.
                        #expect(abs(try #require(times.number("drift")) - 100) < 30)
                        #expect(try #require(times.number("settled")) > 1000)
                        #expect(try #require(times.number("p99")) < 1000)
                    }
                }
            }
        }
    }
}
