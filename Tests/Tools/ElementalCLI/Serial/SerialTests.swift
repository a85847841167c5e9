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

    @Test("values are kept for clients that come later, over ends of the program in order and by a kill", .backstop)
    func aBoardsValuesAreKept() async throws {
        try await withFolder { folder in
            let link = folder + "/board"
            let options = ["--pty", "--link", link, "--keep", "24h 1MB", "--state", folder]
            for (end, numbers) in [(SIGINT, 1...5), (SIGKILL, 6...8), (SIGINT, 9...10)]
                as [(Int32, ClosedRange<UInt32>)]
            {
                try await run(options) { gateway in
                    _ = try await lines(1, of: gateway)
                    let board = TestBoard(.oven(), on: open(link, O_RDWR | O_NOCTTY))
                    let target = "127.0.0.1:\(try await gateway.listeningPort())"
                    for number in numbers {
                        board.perform { try? $0.send(number, to: Oven.count) }
                        try await eventually("the value \(number)") {
                            try await ElementalProcess.run("get", target, "Count").output == ["Count=\(number)"]
                        }
                    }
                    let result = try await ElementalProcess.run(
                        "watch", target, "Count", "--since", "1h", "--count", "\(numbers.upperBound)", "--json")
                    let events = result.output.compactMap { JSONLine($0) }
                    let values = events.filter { $0.event == "value" }
                    #expect(values.map { $0.number("value") } == (1...numbers.upperBound).map(Double.init), "\(result)")
                    #expect(values.allSatisfy { $0.number("timeError") != nil })
                    // A kill may take what came within the last moment: here there was time to write it.
                    if end == SIGKILL { try await eventually("files") { try await written(folder) } }
                    gateway.send(signal: end)
                    let status = try await gateway.waitForExit()
                    #expect(status == (end == SIGKILL ? .signalled(SIGKILL) : .exited(0)))
                    await board.stop()
                }
            }
            let cleared = try await expectSuccess("history", "clear", "oven-Kitchen", "Count", "--state", folder)
            #expect(cleared.count == 1 && cleared[0].hasPrefix("Count"))
        }
    }

    /// Whether the count's last value is in the files.
    private func written(_ folder: String) async throws -> Bool {
        let files = URL(fileURLWithPath: folder + "/history/oven-Kitchen")
        return try FileManager.default.contentsOfDirectory(atPath: files.path).contains { name in
            guard name.hasPrefix("3-") else { return false }
            let bytes = try Data(contentsOf: files.appendingPathComponent(name))
            return bytes.range(of: Data([4, 0, 0, 0, 8, 0, 0, 0])) != nil
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
        ([], "--serial DEVICE"),
        (["--pty", "--listen", "127.0.0.1:0", "--name", "x"], "--name needs exactly one line"),
        (["--pty", "--listen", "127.0.0.1:0", "--port", "5000"], "--port needs exactly one line"),
        (["--pty", "--baud", "1201"], "--baud takes"), (["--link", "/tmp/x"], "--link needs --pty"),
        (["--list", "--pty"], "--list takes no lines"), (["--dial", "127.0.0.1"], "has no port"),
        (["--pty", "--service", "no name"], "no name"), (["--pty", "--history", "memory"], "need --keep"),
        (["--pty", "--keep", "soon"], "is not a limit of a history"), (["--pty", "--keep", ""], "give a limit"),
        (["--pty", "--keep", "1h 2h"], "a second option of its kind"),
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
