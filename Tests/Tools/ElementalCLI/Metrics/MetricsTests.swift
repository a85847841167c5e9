import Foundation
import TestSupport
import Testing

/// `elemental metrics`: what a collector of metrics gets from it.
struct MetricsTests {
    private static let elements = [
        "1:Speed:float:unit m/s=0.5", "2:Camera:bool=on", "3:Aim \"x\":float3=1,nan,-inf", "4:Note:string=seven",
        "5:Mode:uint8:choices off,heat=heat",
    ]

    /// Runs a service and the command, which follows it.
    private func withMetrics(
        _ options: [String] = [],
        _ body: (_ service: ChildProcess, _ target: String, _ metrics: ChildProcess, _ port: Int) async throws -> Void
    ) async throws {
        try await Robot.with(Self.elements) { service, target in
            let arguments = ["metrics", target, "--port", "0", "--json"] + options
            try await withCommand(arguments) { metrics in
                let url: String? = try await metrics.nextEvent("serving")["url"]
                let components = try #require(url.flatMap { URLComponents(string: $0) })
                #expect(components.path == "/metrics")
                try await metrics.nextEvent("serviceState") { $0["state"] == "connected" }
                try await body(service, target, metrics, try #require(components.port))
            }
        }
    }

    @Test(.backstop)
    func servesWhatTheServiceSays() async throws {
        try await withMetrics { service, target, metrics, port in
            let device = "device=\"\(target)\""
            let first = try await scrape(port) { $0.contains { $0.hasSuffix(",element=\"Mode\"} 1") } }
            #expect(first.contains("elemental_up{\(device)} 1"))
            #expect(first.contains("elemental_connections 1"))
            #expect(first.contains("elemental_element_value{\(device),element=\"Speed\",unit=\"m/s\"} 0.5"))
            #expect(first.contains("elemental_element_value{\(device),element=\"Camera\"} 1"))
            #expect(first.contains("elemental_element_value{\(device),element=\"Aim \\\"x\\\"\",component=\"x\"} 1.0"))
            #expect(first.contains("elemental_element_value{\(device),element=\"Aim \\\"x\\\"\",component=\"y\"} NaN"))
            #expect(first.contains("elemental_element_value{\(device),element=\"Aim \\\"x\\\"\",component=\"z\"} -Inf"))
            #expect(!first.contains { $0.hasPrefix("elemental_element_value") && $0.contains("Note") })
            #expect(
                first.contains {
                    $0.hasPrefix("elemental_element_updated_timestamp_seconds{\(device),element=\"Note\"}")
                })
            try service.writeLine("Speed=2.25")
            _ = try await scrape(port) { $0.contains { $0.hasSuffix("unit=\"m/s\"} 2.25") } }
            _ = try await scrape(port) { Self.hasRoundTrips($0, target) }
            try await metrics.expectExit(after: SIGTERM)
        }
    }

    @Test(.backstop)
    func aFileOfMetricsIsReplacedAsAWhole() async throws {
        try await withFolder { folder in
            try await Robot.with(Self.elements) { service, target in
                let file = folder + "/robot.prom"
                let write = ["metrics", target, "--once", "--to", file, "--state", folder + "/state"]
                let first = try await ElementalProcess.run(write)
                #expect(first.status == .exited(0) && first.output.isEmpty, "\(first)")
                // A collector that has opened it.
                let reader = try #require(FileHandle(forReadingAtPath: file))
                try service.writeLine("Speed=2.25")
                try await eventually("the new value") {
                    try await ElementalProcess.run("get", target, "Speed").output == ["Speed=2.25 m/s"]
                }
                let second = try await ElementalProcess.run(write)
                #expect(second.status == .exited(0), "\(second)")
                let old = String(decoding: try #require(try reader.readToEnd()), as: UTF8.self)
                #expect(old.contains("unit=\"m/s\"} 0.5\n") && old.hasSuffix("\n"))
                let new = try String(contentsOfFile: file, encoding: .utf8)
                #expect(new.contains("unit=\"m/s\"} 2.25\n"))
                // Another user's program reads it, and nothing else is left there.
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
                #expect((mode?.intValue ?? 0) & 0o444 == 0o444)
                let names = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(names.sorted() == ["robot.prom", "state"])
                let device = try await expectFailure("metrics", target, "--once", "--to", "/dev/null", "--timeout", "5")
                #expect(device.errors.joined().contains("not a regular file"))
            }
        }
        try Mistake.expect(in: ["metrics", "robot", "--to", "x"])
    }

    @Test(.backstop)
    func aServiceThatIsAwayKeepsItsCountersOnly() async throws {
        let port = try PortLease.port()
        let device = "device=\"127.0.0.1:\(port)\""
        try await withCommand(["metrics", "127.0.0.1:\(port)", "--port", "0", "--json"]) { metrics in
            let url: String? = try await metrics.nextEvent("serving")["url"]
            let metricsPort = try #require(url.flatMap { URLComponents(string: $0) }?.port)
            _ = try await scrape(metricsPort) { $0.contains("elemental_up{\(device)} 0") }
            try await Robot.with(Self.elements, port: port) { service, _ in
                let here = try await scrape(metricsPort) {
                    $0.contains("elemental_messages_received_total{\(device)} 5")
                }
                #expect(here.contains { $0.hasSuffix("unit=\"m/s\"} 0.5") })
                service.send(signal: SIGKILL)
            }
            let away = try await scrape(metricsPort) { $0.contains("elemental_up{\(device)} 0") }
            #expect(!away.contains { $0.hasPrefix("elemental_element_value") })
            #expect(away.contains("elemental_messages_received_total{\(device)} 5"))
            try await Robot.with(Self.elements, port: port) { _, _ in
                let back = try await scrape(metricsPort) {
                    $0.contains("elemental_messages_received_total{\(device)} 10")
                }
                #expect(back.contains { $0.hasSuffix("unit=\"m/s\"} 0.5") })
                #expect(back.contains("elemental_up{\(device)} 1"))
                #expect(back.contains("elemental_reconnections_total{\(device)} 1"))
            }
        }
    }

    @Test(.backstop)
    func onlyWhoHasTheTokenReadsThem() async throws {
        let token = "0123456789abcdef0123456789abcdef"
        try await withFolder { folder in
            try Data((token + "\n").utf8).write(to: URL(filePath: folder + "/token"))
            try await withMetrics(["--lan", "--token", "@\(folder)/token"]) { _, _, _, port in
                for headers in [[:], ["Authorization": "Bearer \(token.dropLast())0"]] as [[String: String]] {
                    let refused = try await get(port, headers)
                    #expect(refused.status == 401 && !refused.text.contains("elemental_up"), "\(refused)")
                }
                let right = try await get(port, ["Authorization": "Bearer \(token)"])
                #expect(right.status == 200 && right.text.contains("elemental_up"), "\(right)")
                #expect(right.head.contains("text/plain; version=0.0.4; charset=utf-8"), "\(right.head)")
            }
        }
    }

    @Test(.backstop)
    func onceConnectsPrintsAndEnds() async throws {
        try await Robot.with(Self.elements) { service, target in
            let output = try await expectSuccess("metrics", target, "--once")
            #expect(output.first?.hasPrefix("# HELP elemental_up ") == true)
            #expect(output.contains("elemental_element_value{device=\"\(target)\",element=\"Mode\"} 1"), "\(output)")
            let json = try await ElementalProcess.run("metrics", target, "--once", "--json")
            let event = json.output.compactMap { JSONLine($0) }.first { $0.event == "metrics" }
            let text: String? = event?["text"]
            #expect(text?.contains("elemental_up{device=\"\(target)\"} 1\n") == true, "\(json.output)")
        }
    }

    @Test(.backstop)
    func onceSaysWhichTargetIsMissing() async throws {
        let port = try PortLease.port()
        let once = try await expectFailure("metrics", "127.0.0.1:\(port)", "--once", "--timeout", "1")
        #expect(once.output.contains("elemental_up{device=\"127.0.0.1:\(port)\"} 0"))
        #expect(once.errors.contains { $0.contains("not connected") && $0.contains("127.0.0.1:\(port)") }, "\(once)")
    }

    @Test(
        arguments: [
            ["--listen", "0.0.0.0"], ["--lan"], ["--lan", "--listen", "0.0.0.0", "--token", "@x"],
            ["--token", "secret"], ["--once", "--port", "1"], ["--port", "65536"],
            ["--listen", "a b"],
        ])
    func mistakes(_ arguments: [String]) throws { try Mistake.expect(in: ["metrics"] + arguments) }

    private static let promtool = Repository.path(".build/promtool/promtool")

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: promtool),
            "promtool is not there: run Tests/install promtool"),
        .backstop)
    func prometheusOwnProgramIsContent() async throws {
        try await withMetrics { _, target, _, port in
            _ = try await scrape(port) { Self.hasRoundTrips($0, target) }
            let text = try await get(port).text
            try await ChildProcess.with(Self.promtool, ["check", "metrics"]) { promtool in
                for line in text.split(separator: "\n") { try promtool.writeLine(String(line)) }
                promtool.closeInput()
                try await promtool.expectExit()
                #expect(promtool.lines(of: .error) == [])
            }
        }
    }

    private static func hasRoundTrips(_ lines: [String], _ target: String) -> Bool {
        let series = "elemental_round_trip_seconds_count{device=\"\(target)\"} "
        return lines.contains { $0.hasPrefix(series) && !$0.hasSuffix(" 0") }
    }

    // MARK: Requests

    struct Answer: CustomStringConvertible {
        let head: String
        let text: String

        var status: Int { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 }
        var description: String { head + "\n\n" + text.prefix(500) }
    }

    func get(_ port: Int, _ headers: [String: String] = [:]) async throws -> Answer {
        let socket = try RawSocket.connect(to: port)
        var headers = headers
        headers["Host"] = headers["Host"] ?? "127.0.0.1:\(port)"
        let lines = ["GET /metrics HTTP/1.1", "Connection: close"] + headers.map { "\($0): \($1)" }
        try socket.write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        let parts = String(decoding: try await socket.readToEnd(), as: UTF8.self).components(separatedBy: "\r\n\r\n")
        return Answer(head: parts[0], text: parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    /// The lines of the metrics, once they are as expected.
    private func scrape(_ port: Int, until isExpected: ([String]) -> Bool) async throws -> [String] {
        var lines: [String] = []
        try await eventually("metrics as expected: \(lines.joined(separator: "\n"))", every: .milliseconds(50)) {
            lines = try await get(port).text.components(separatedBy: "\n")
            return isExpected(lines)
        }
        return lines
    }
}
