import TestSupport
import Testing

/// `elemental bench latency`.
struct BenchLatencyTests {
    @Test(arguments: ["tcp", "udp"])
    func latencyWithItsOwnResponder(_ transport: String) async throws {
        let (status, output, errors) = try await ElementalProcess.run(
            "bench", "latency", "--transport", transport, "--count", "200", "--json", timeout: .seconds(60))
        #expect(status == .exited(0), "\(errors)")
        let report = try #require(output.compactMap { JSONLine($0) }.first { $0.event == "latency" })
        #expect(report["transport"] == transport)
        let lost = try #require(report.number("lost"))
        #expect(try #require(report.number("count")) + lost == 200)
        let percentiles = try ["p50", "p90", "p99", "p999", "max"].map { try #require(report.number($0)) }
        #expect(percentiles == percentiles.sorted())
        #expect(try #require(percentiles.first) > 0)
    }

    @Test
    func latencyOfAnyServiceThatAnswersPings() async throws {
        let arguments = [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--json", "--element", "1:Speed:float=0.5",
        ]
        try await ChildProcess.with(ElementalProcess.path, arguments) { service in
            let target = "127.0.0.1:\(try await service.listeningPort())"
            let (status, output, errors) = try await ElementalProcess.run(
                "bench", "latency", target, "--count", "50", "--json")
            #expect(status == .exited(0), "\(errors)")
            #expect(output.contains { JSONLine($0)?.number("count") == 50 }, "\(output)")
        }
    }
}
