import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// `elemental serial` in a process of its own, with boards in this one.
struct SerialTests {
    private func run(_ arguments: [String], _ body: (ChildProcess) async throws -> Void) async throws {
        let all = ["serial", "--unlisted", "--address", "127.0.0.1", "--json"] + arguments
        try await withCommand(all) { gateway in try await body(gateway) }
    }

    private func lines(_ count: Int, of gateway: ChildProcess) async throws -> [String] {
        var names: [String] = []
        for _ in 0..<count {
            names.append(try #require(try await gateway.nextEvent("line") { $0["state"] == "ready" }["line"]))
        }
        return names
    }

    @Test
    func severalLinesAreServicesThatCanBeReadAndSet() async throws {
        let lines = ["--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--pty"]
        try await run(lines) { gateway in
            let lines = try await self.lines(3, of: gateway).filter { $0.hasPrefix("127.0.0.1:") }
            let ports = try lines.map { try port(of: $0) }
            #expect(ports.count == 2)
            let boards = try ports.enumerated().map { index, port in
                try TestBoard.dial(port, .oven(name: "Oven \(index)", service: "oven"))
            }
            for index in boards.indices {
                let appeared = try await gateway.nextEvent("device") { $0["instance"] == "Oven \(index)" }
                #expect(appeared["state"] == "appeared" && appeared["service"] == "oven")
                #expect(appeared["line"] == "127.0.0.1:\(ports[index])")
            }
            for _ in boards {
                let target = "127.0.0.1:\(try await gateway.listeningPort())"
                try await expectSuccess("set", target, "Target=21.5")
                try await expectFailure("set", target, "Target=31", status: 2)
                let get = try await ElementalProcess.run("get", target, "Temperature")
                #expect(get.output == ["Temperature=20.5 °C"])
            }
            try await gateway.expectExit(after: SIGINT)
            for board in boards { await board.stop() }
        }
    }

    @Test
    func aBoardThatIsUnpluggedAndPluggedInAgain() async throws {
        try await run(["--listen", "127.0.0.1:0", "--name", "Mine", "--service", "heater", "--restore"]) { gateway in
            let line = try port(of: try await lines(1, of: gateway)[0])
            var board = try TestBoard.dial(line, .oven())
            let listening = try await gateway.nextEvent("listening")
            #expect(listening["service"] == "heater")
            let target = "127.0.0.1:\(Int(try #require(listening.number("port"))))"
            try await expectSuccess("set", target, "Target=22")
            await board.stop()
            let lost = try await gateway.nextEvent("device") { $0["state"] == "lost" }
            try await gateway.nextEvent("stopped")
            board = try TestBoard.dial(line, .oven())
            #expect(try await gateway.nextEvent("restored", after: lost.place).number("count") == 1)
            try await gateway.nextEvent("listening", after: lost.place)
            await board.stop()
        }
    }

    @Test
    func aBoardIsEncryptedAsOtherServicesAre() async throws {
        try await Serving.with { serving in
            try await run(["--listen", "127.0.0.1:0", "--security", "paired", "--state", serving.state]) { gateway in
                let board = try TestBoard.dial(try port(of: try await lines(1, of: gateway)[0]), .oven())
                let target = "127.0.0.1:\(try await gateway.listeningPort())"
                try await expectFailure("set", target, "Target=21", "--security", "open", status: 4)
                try await expectSuccess(serving.run("set", target, "Target=21", "--security", "paired"))
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
    func mistakes(_ arguments: [String], _ advice: String) throws {
        try Mistake.expect(in: ["serial"] + arguments, advice)
    }

    @Test
    func candidatesAreListedByTheNamesThatStay() async throws {
        try await withFolder { directory in
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
}
