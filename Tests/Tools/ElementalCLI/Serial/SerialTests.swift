import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// `elemental serial` in a process of its own, with boards in this one.
struct SerialTests {
    private func run(_ arguments: [String], _ body: (ChildProcess) async throws -> Void) async throws {
        let all = ["serial", "--unlisted", "--address", "127.0.0.1", "--json"] + arguments
        try await ChildProcess.with(ElementalProcess.path, all) { gateway in try await body(gateway) }
    }

    /// The first event that holds from the beginning of the output.
    private func event(
        _ name: String, of child: ChildProcess, _ holds: (JSONLine) -> Bool = { _ in true }
    ) async throws -> JSONLine {
        var event: JSONLine?
        try await eventually("event '\(name)': \(child.transcript)") {
            event = child.lines(of: .output).compactMap { JSONLine($0) }.first { $0.event == name && holds($0) }
            return event != nil
        }
        return try #require(event)
    }

    @Test
    func severalLinesAreServicesThatCanBeReadAndSet() async throws {
        let lines = ["--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--pty"]
        try await run(lines) { gateway in
            let ports = try await eventuallyLines(gateway, 3).filter { $0.hasPrefix("127.0.0.1:") }
                .compactMap { $0.split(separator: ":").last.flatMap { Int($0) } }
            #expect(ports.count == 2)
            let boards = try ports.enumerated().map { index, port in
                try TestBoard.dial(port, .oven(name: "Oven \(index)", service: "oven"))
            }
            for index in boards.indices {
                let appeared = try await event("device", of: gateway) { $0["name"] == "Oven \(index)" }
                #expect(appeared["state"] == "appeared" && appeared["service"] == "oven")
                #expect(appeared["line"] == "127.0.0.1:\(ports[index])")
            }
            try await eventually("both listen: \(gateway.transcript)") {
                gateway.lines(of: .output).compactMap { JSONLine($0) }.filter { $0.event == "listening" }.count == 2
            }
            for listening in gateway.lines(of: .output).compactMap({ JSONLine($0) })
            where listening.event == "listening" {
                let target = "127.0.0.1:\(Int(try #require(listening.number("port"))))"
                let set = try await ElementalProcess.run("set", target, "Target=21.5")
                #expect(set.status == .exited(0))
                let refused = try await ElementalProcess.run("set", target, "Target=31")
                #expect(refused.status == .exited(1))
                let get = try await ElementalProcess.run("get", target, "Temperature")
                #expect(get.output == ["Temperature=20.5 °C"])
            }
            gateway.send(signal: SIGINT)
            let status = try await gateway.waitForExit()
            #expect(status == .exited(0), "\(gateway.transcript)")
            for board in boards { await board.stop() }
        }
    }

    private func eventuallyLines(_ gateway: ChildProcess, _ count: Int) async throws -> [String] {
        var names: [String] = []
        try await eventually("lines: \(gateway.transcript)") {
            names = gateway.lines(of: .output).compactMap { JSONLine($0) }
                .filter { $0.event == "line" && $0["state"] == "ready" }.compactMap { $0["line"] }
            return names.count == count
        }
        return names
    }

    @Test
    func aBoardThatIsUnpluggedAndPluggedInAgain() async throws {
        try await run(["--listen", "127.0.0.1:0", "--name", "Mine", "--service", "heater", "--restore"]) { gateway in
            let line: String = try #require(try await event("line", of: gateway)["line"])
            let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
            var board = try TestBoard.dial(port, .oven())
            let listening = try await event("listening", of: gateway)
            #expect(listening["service"] == "heater")
            let target = "127.0.0.1:\(Int(try #require(listening.number("port"))))"
            let set = try await ElementalProcess.run("set", target, "Target=22")
            #expect(set.status == .exited(0))
            await board.stop()
            _ = try await event("device", of: gateway) { $0["state"] == "lost" }
            _ = try await event("stopped", of: gateway)
            board = try TestBoard.dial(port, .oven())
            #expect(try await event("restored", of: gateway).number("count") == 1)
            try await eventually("the second service") {
                gateway.lines(of: .output).compactMap { JSONLine($0) }.filter { $0.event == "listening" }.count == 2
            }
            await board.stop()
        }
    }

    @Test
    func aBoardIsEncryptedAsOtherServicesAre() async throws {
        try await Serving.with { serving in
            let arguments = [
                "serial", "--listen", "127.0.0.1:0", "--unlisted", "--address", "127.0.0.1", "--json", "--security",
                "paired",
                "--state", serving.state,
            ]
            try await ChildProcess.with(ElementalProcess.path, arguments) { gateway in
                let line: String = try #require(try await event("line", of: gateway)["line"])
                let port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
                let board = try TestBoard.dial(port, .oven())
                let listening = try await event("listening", of: gateway)
                let target = "127.0.0.1:\(Int(try #require(listening.number("port"))))"
                let plain = try await ElementalProcess.run("set", target, "Target=21", "--security", "open")
                #expect(plain.status == .exited(1), "\(plain)")
                let own = try await serving.run("set", target, "Target=21", "--security", "paired")
                #expect(own.status == .exited(0), "\(own)")
                await board.stop()
            }
        }
    }

    @Test(arguments: [
        ([], "--serial DEVICE"), (["--pty", "--listen", "127.0.0.1:0", "--name", "x"], "--name goes with one line"),
        (["--pty", "--listen", "127.0.0.1:0", "--port", "5000"], "--port goes with one line"),
        (["--pty", "--baud", "1201"], "--baud takes"), (["--link", "/tmp/x"], "--link goes with --pty"),
        (["--list", "--pty"], "--list takes no lines"), (["--dial", "127.0.0.1"], "has no port"),
        (["--pty", "--service", "no name"], "no name"),
    ])
    func mistakes(_ arguments: [String], _ advice: String) async throws {
        let result = try await ElementalProcess.run(["serial"] + arguments)
        #expect(result.status == .exited(64))
        #expect(result.errors.joined(separator: "\n").contains(advice), "\(result.errors)")
    }

    @Test
    func candidatesAreListedByTheNamesThatStay() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("by-id-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(SerialCandidate.all(in: directory + "/none").isEmpty)
        for (name, target) in [("usb-B-if00", "/dev/null"), ("usb-A-if00", "/dev/nothing")] {
            try FileManager.default.createSymbolicLink(atPath: directory + "/" + name, withDestinationPath: target)
        }
        let candidates = SerialCandidate.all(in: directory)
        #expect(candidates.map(\.path) == [directory + "/usb-A-if00", directory + "/usb-B-if00"])
        #expect(candidates.map(\.device) == [directory + "/usb-A-if00", "/dev/null"])
        #expect(candidates.map(\.isUsable) == [false, true])
    }
}
