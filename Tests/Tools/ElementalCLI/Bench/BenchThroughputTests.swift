import TestSupport
import Testing

extension BenchTests {
    struct Throughput {
        @Test(arguments: ["tcp", "udp"], [8, 100])
        func everyMessageIsCounted(_ transport: String, _ size: Int) async throws {
            let report = try await ElementalProcess.report(
                "throughput", "--transport", transport, "--count", "2000", "--size", "\(size)", "--rate", "20000")
            #expect(report["transport"] == transport)
            #expect(report.number("sent") == 2000)
            let lost = try #require(report.number("lost"))
            let messages = try #require(report.number("messages"))
            #expect(messages + lost == 2000)
            #expect(report.number("bytes") == messages * Double(size))
            if transport == "tcp" { #expect(lost == 0) }
            #expect(report.number("repeated") == 0)
            for key in [
                "seconds", "messagesPerSecond", "bytesPerSecond", "senderProcessorTime", "receiverProcessorTime",
            ] {
                #expect(try #require(report.number(key)) > 0, "\(key)")
            }
        }

        @Test
        func asManyAsGoInATime() async throws {
            let report = try await ElementalProcess.report("throughput", "--seconds", "0.2", "--size", "8")
            #expect(report.number("lost") == 0)
            #expect(report.number("messages") == report.number("sent"))
            #expect(try #require(report.number("messages")) > 0)
            #expect(try #require(report.number("seconds")) >= 0.2)
        }

        @Test
        func aServiceOfAnotherKindIsRefused() async throws {
            try await Robot.with { _, target in
                let errors = try await expectFailure("bench", "throughput", target, status: 3).errors
                #expect(errors.contains { $0.contains("elemental bench serve") }, "\(errors)")
            }
        }
    }
}
