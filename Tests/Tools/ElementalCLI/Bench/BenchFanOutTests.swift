import TestSupport
import Testing

extension BenchTests {
    struct FanOut {
        @Test(arguments: [1, 20], [8, 200])
        func everyDeviceGetsEveryValue(_ devices: Int, _ size: Int) async throws {
            var report: JSONLine?
            // In a short time none may be delivered, on a busy machine.
            for seconds in ["0.2", "2", "20"] where report?.number("deliveries") ?? 0 == 0 {
                report = try await ElementalProcess.report(
                    "fanout", "--devices", "\(devices)", "--seconds", seconds, "--size", "\(size)")
            }
            let numbers = try #require(report)
            #expect(numbers.number("devices") == Double(devices))
            #expect(numbers.number("lost") == 0)
            let sent = try #require(numbers.number("sent"))
            let deliveries = try #require(numbers.number("deliveries"))
            #expect(deliveries > 0 && deliveries <= sent)
            let rate = deliveries / (try #require(numbers.number("seconds")))
            #expect(abs(try #require(numbers.number("deliveriesPerSecond")) / rate - 1) < 0.05)
        }

        @Test
        func aServiceThatIsUsedTwiceServesBoth() async throws {
            try await Self.withService { target, _ in
                async let first = ElementalProcess.report("fanout", target, "--devices", "3", "--seconds", "0.2")
                async let second = ElementalProcess.report("fanout", target, "--devices", "3", "--seconds", "0.2")
                for report in try await [first, second] { #expect(report.number("lost") == 0) }
                // A new device receives the last broadcast value, and must not count it as one of its run.
                let third = try await ElementalProcess.report("fanout", target, "--devices", "2", "--seconds", "0.1")
                #expect(third.number("lost") == 0)
            }
        }

        @Test
        func aBroadcastEndsWithTheClientThatAskedForIt() async throws {
            try await Self.withService { target, service in
                try await withCommand(
                    ["bench", "fanout", target, "--devices", "2", "--seconds", Patience.seconds]
                ) { client in
                    for _ in 0..<2 { try await service.nextEvent("connected") }
                    client.send(signal: 9)
                    try await client.waitForExit()
                }
                let report = try await ElementalProcess.report("latency", target, "--count", "20")
                #expect(report.number("lost") == 0)
            }
        }

        private static func withService(_ body: (String, ChildProcess) async throws -> Void) async throws {
            try await withCommand(["bench", "serve", "--port", "0", "--responder", "--json"]) { service in
                try await body("127.0.0.1:\(try await service.listeningPort())", service)
            }
        }
    }
}
