import Foundation
import TestSupport
import Testing

extension BenchTests {
    struct Latency {
        private static let ways = ["handlers", "streams", "task-streams", "ping"].map { ["--via", $0] }
        /// At any rate, at one that is given, without sleeping, and sent by what sleeps.
        private static let options: [[String]] =
            ways + ways.map { $0 + ["--rate", "2000"] }
            + [["--lowest", "--rate", "0"], ["--lowest", "--rate", "1000"]]
            + ["timer", "thread", "task"].map { ["--rate", "1000", "--pace", $0] }

        @Test(arguments: ["tcp", "udp"], options)
        func everyRoundTripIsCounted(_ transport: String, _ options: [String]) async throws {
            let report = try await ElementalProcess.report(
                "latency", "--transport", transport, "--count", "200", options: options)
            #expect(report["transport"] == transport)
            if options[0] == "--via" { #expect(report["via"] == options[1]) }
            try Self.check(report, count: 200)
        }

        @Test(arguments: ["handlers", "streams", "task-streams"])
        func dataOfAnySize(_ via: String) async throws {
            let report = try await ElementalProcess.report("latency", "--via", via, "--count", "50", "--size", "100000")
            try Self.check(report, count: 50)
            #expect(report.number("lost") == 0)
        }

        @Test(arguments: ["large", "motion"], ["tcp", "udp"])
        func besideALoad(_ load: String, _ transport: String) async throws {
            // Few enough for the slowest machine: what it cannot take is lost, and each lost round trip takes the timeout.
            let devices = load == "motion" ? ["--devices", "3"] : []
            let report = try await ElementalProcess.report(
                "latency", "--beside", load, "--transport", transport, "--count", "50", options: devices)
            try Self.check(report, count: 50)
            #expect(report["beside"] == load)
            #expect(try #require(report.number("besideMessagesPerSecond")) > 0)
            #expect(try #require(report.number("besideBytesPerSecond")) > 0)
            #expect(report.number("besideDevices") == (load == "large" ? 1 : 3))
            if load == "large" { #expect(report.number("besideLost") == 0) }
        }

        @Test
        func handlersAreMeasuredUnlessToldOtherwise() async throws {
            let report = try await ElementalProcess.report("latency", "--count", "1")
            #expect(report["via"] == "handlers")
        }

        @Test(arguments: ["tcp", "udp"], [[], ["--rate", "200"]])
        func timesInEachDirection(_ transport: String, _ options: [String]) async throws {
            let report = try await ElementalProcess.report(
                "latency", "--transport", transport, "--count", "50", options: options)
            let error = try #require(report.number("oneWayError"))
            #expect(error > 0)
            for direction in ["out", "back"] {
                let times = try ["P50", "P99"].map { try #require(report.number(direction + $0)) }
                #expect(times[0] <= times[1])
                #expect(times[0] + error >= 0)
            }
        }

        @Test
        func pingsTellNoTimesInEachDirection() async throws {
            let report = try await ElementalProcess.report("latency", "--via", "ping", "--count", "5")
            #expect(report.number("oneWayError") == nil)
        }

        @Test
        func latencyOfAnyServiceThatAnswersPings() async throws {
            try await Robot.with { _, target in
                let report = try await ElementalProcess.report("latency", target, "--count", "50")
                #expect(report["via"] == "ping")
                #expect(report.number("count") == 50)
                for options in [["--via", "handlers"], ["--rate", "1000", "--pace", "task"]] {
                    let bench = try await ElementalProcess.run(["bench", "latency", target] + options)
                    let errors = expectFailure(bench, status: 3).errors
                    #expect(errors.contains { $0.contains("elemental bench serve") }, "\(errors)")
                }
            }
        }

        @Test(arguments: ["tcp", "udp"])
        func encrypted(_ transport: String) async throws {
            try await withFolder { folder in
                let state = folder + "/state"
                let report = try await ElementalProcess.report(
                    "latency", "--security", "paired", "--state", state, "--transport", transport, "--count", "50")
                try Self.check(report, count: 50)
                #expect(try #require(report.number("count")) > 0)
                #expect(FileManager.default.fileExists(atPath: state + "/identity.pem"))
            }
        }

        private static func check(_ report: JSONLine, count: Double) throws {
            let lost = try #require(report.number("lost"))
            #expect(try #require(report.number("count")) + lost == count)
            let times = try ["min", "p50", "p90", "p99", "p999", "max"].map { try #require(report.number($0)) }
            #expect(times == times.sorted())
            #expect(try #require(times.first) > 0)
            let mean = try #require(report.number("mean"))
            #expect(mean >= times[0] && mean <= times[5])
        }
    }
}
