import Foundation
import TestSupport
import Testing

/// `elemental connect` and `elemental bench`.
struct SessionAndBenchTests {
    @Test
    func aSessionListsGetsSetsWatchesAndEnds() async throws {
        let service = [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--json", "--element", "1:Speed:float=0.5",
        ]
        try await ChildProcess.with(ElementalProcess.path, service) { service in
            let target = "127.0.0.1:\(try await service.listeningPort())"
            try await ChildProcess.with(ElementalProcess.path, ["connect", target]) { session in
                try session.writeLine("list")
                try await session.nextLine { $0.contains("Speed") && $0.contains("float") }
                try session.writeLine("get Speed")
                try await session.nextLine { $0 == "Speed=0.5" }
                try session.writeLine("set Speed=0.75")
                try await service.nextEvent("value") { $0.number("value") == 0.75 }
                try session.writeLine("set Sped=1")
                try await session.nextLine(of: .error) { $0.contains("Speed") }
                try session.writeLine("watch Speed")
                try await session.nextLine { $0 == "Speed=0.75" }
                try service.writeLine("Speed=0.25")
                try await session.nextLine { $0 == "Speed=0.25" }
                try session.writeLine("stats")
                try await session.nextLine { $0.lowercased().contains("sent") }
                try session.writeLine("quit")
                let status = try await session.waitForExit()
                #expect(status == .exited(0), "\(session.transcript)")
            }
        }
    }

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

    @Test(arguments: ["tcp", "udp"])
    func throughputWithItsOwnResponder(_ transport: String) async throws {
        let (status, output, errors) = try await ElementalProcess.run(
            "bench", "throughput", "--transport", transport, "--count", "2000", "--size", "8", "--rate", "20000",
            "--json",
            timeout: .seconds(60))
        #expect(status == .exited(0), "\(errors)")
        let report = try #require(output.compactMap { JSONLine($0) }.first { $0.event == "throughput" })
        let lost = try #require(report.number("lost"))
        #expect(try #require(report.number("messages")) + lost == 2000)
        if transport == "tcp" { #expect(lost == 0) }
        #expect(try #require(report.number("messagesPerSecond")) > 0)
        #expect(try #require(report.number("bytesPerSecond")) > 0)
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
