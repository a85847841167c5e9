import Foundation
import TestSupport
import Testing

/// Histories that outlast the service's program, and `watch --resume`, which goes on where it was.
struct KeptHistoryTests {
    private static let elements = ["1:Count:uint32:ro:history 24h", "2:Done:uint32"]

    /// Runs the service, with its files in that folder, and sets the count to each of the numbers.
    private func publish(
        _ numbers: ClosedRange<Int>, _ state: String, port: Int = 0,
        _ body: (ChildProcess, String) async throws -> Void
    ) async throws {
        try await Robot.with(Self.elements, ["--state", state], port: port) { service, target in
            for number in numbers { try service.writeLine("Count=\(number)") }
            // Lines are taken in order: the last one shows that all were.
            try service.writeLine("Done=\(numbers.upperBound)")
            try await eventually("all values are set") {
                try await ElementalProcess.run("get", target, "Done").output.contains("Done=\(numbers.upperBound)")
            }
            try await body(service, target)
        }
    }

    private func watch(_ target: String, _ arguments: String...) async throws -> [JSONLine] {
        let result = try await ElementalProcess.run(["watch", target, "Count", "--json"] + arguments)
        #expect(result.status == .exited(0), "\(result)")
        return result.output.compactMap { JSONLine($0) }.filter { $0.event == "value" || $0.event == "gap" }
    }

    private func values(_ events: [JSONLine]) -> [Int] { events.compactMap { $0.number("value").map { Int($0) } } }

    @Test("values outlast the program: all of them after an end in order, with no gap", .backstop)
    func end() async throws {
        try await withFolder { state in
            try await publish(1...30, state) { service, _ in
                service.closeInput()
                let status = try await service.waitForExit()
                #expect(status == .exited(0))
            }
            try await publish(31...40, state) { service, target in
                let events = try await watch(target, "--since", "1h", "--count", "40")
                #expect(values(events) == Array(1...40) && events.count == 40)
                // Somebody else's service does not take its files, nor does its removal.
                let other = expectFailure(
                    try await ElementalProcess.run(Robot.arguments(Self.elements) + ["--state", state]))
                #expect(other.errors.joined().contains("--history memory"), "\(other)")
                let clear = try await expectFailure("history", "clear", "robot", "--state", state)
                #expect(clear.errors.joined().contains("another program"), "\(clear)")
                service.closeInput()
                let status = try await service.waitForExit()
                #expect(status == .exited(0))
            }
            let cleared = try await expectSuccess("history", "clear", "robot", "Count", "--state", state)
            #expect(cleared.count == 1 && cleared[0].hasPrefix("Count"))
            let none = try await expectFailure("history", "clear", "robot", "Count", "--state", state, status: 3)
            #expect(none.errors.joined().contains("Count"), "\(none)")
            try await publish(51...52, state) { _, target in
                let events = try await watch(target, "--since", "1h", "--count", "2")
                #expect(values(events) == [51, 52])
            }
        }
    }

    @Test(
        "a client goes on where it was, over kills of either end: each value once, or in a gap that is told", .backstop)
    func resume() async throws {
        try await withFolder { state in
            let port = try PortLease.port()
            let resume = ["--resume", "laptop", "--state", state + "/client"]
            try await publish(1...20, state, port: port) { service, target in
                let command = ["watch", target, "Count", "--json"] + resume
                try await ChildProcess.with(try ElementalProcess.path, command) { watch in
                    for number in 1...20 {
                        let value = try await watch.nextEvent("value")
                        #expect(value.number("value") == Double(number))
                    }
                    watch.send(signal: SIGINT)
                    let status = try await watch.waitForExit()
                    #expect(status == .exited(0))
                }
                for number in 21...25 { try service.writeLine("Count=\(number)") }
                let events = try await watch(target, "--count", "5", "--resume", "laptop", "--state", state + "/client")
                #expect(values(events) == Array(21...25) && events.count == 5)
                service.send(signal: SIGKILL)
                let status = try await service.waitForExit()
                #expect(status == .signalled(SIGKILL))
            }
            try await publish(31...40, state, port: PortLease.again(port)) { _, target in
                let events = try await watch(
                    target, "--count", "10", "--resume", "laptop", "--state", state + "/client")
                let gap = try #require(events.first { $0.event == "gap" })
                let most = try #require(gap.number("atMost"))
                #expect(gap.number("gap") == nil && (1...256).contains(most))
                #expect(values(events) == Array(31...40) && events.count == 11)
            }
        }
    }

    @Test("names that are no files are refused, and so is a file that has no positions", .backstop)
    func names() async throws {
        try await withFolder { state in
            for name in ["", "../a", "a/b", "a.b", String(repeating: "a", count: 64)] {
                let result = try await ElementalProcess.run("watch", "127.0.0.1:9", "--resume", name)
                #expect(result.status == .exited(64), "\(result)")
            }
            try await publish(1...1, state) { _, target in
                let folder = state + "/resume"
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                #expect(
                    FileManager.default.createFile(
                        atPath: folder + "/laptop.json", contents: Data("[]".utf8),
                        attributes: [.posixPermissions: 0o600]))
                let result = try await expectFailure(
                    "watch", target, "--resume", "laptop", "--state", state, "--count", "1")
                #expect(result.errors.joined().contains("laptop.json"), "\(result)")
            }
        }
    }

    @Test(
        "on a full disk the service says so and goes on with the values in memory", .backstop,
        .enabled(if: TestBed.isAvailable, "network namespaces cannot be made here"))
    func fullDisk() async throws {
        try await withFolder { state in
            let script = "mount -t tmpfs -o size=96k,mode=700 none \"$0\"; exec \"$@\""
            let publish = [try ElementalProcess.path] + Robot.arguments(["1:Text:data:ro:history 24h"])
            let command = ["--mount", "sh", "-ec", script, state] + publish + ["--state", state]
            try await ChildProcess.with("unshare", command) { service in
                let port = try await service.listeningPort()
                let value = String(repeating: "07", count: 20_000)
                for _ in 0..<8 { try service.writeLine("Text=\(value)") }
                let event = try await service.nextEvent("historyUnavailable")
                #expect(event["reason"] == "diskFull", "\(event)")
                // They are in memory.
                let watch = try await ElementalProcess.run(
                    "watch", "127.0.0.1:\(port)", "Text", "--since", "1h", "--count", "8", "--json")
                #expect(watch.status == .exited(0) && watch.output.filter { $0.contains("\"value\"") }.count >= 8)
            }
        }
    }
}
