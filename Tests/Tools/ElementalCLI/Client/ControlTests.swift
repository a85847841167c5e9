import Foundation
import TestSupport
import Testing

/// The commands against a service at HOST:PORT on this machine; no Zeroconf.
struct ControlTests {
    private static let elements = [
        "--element", "1:Speed:float:rw=0.5", "--element", "2:Label:string=a = b: c", "--element", "3:Aim:float3:udp:wo",
        "--element", "4:Count:uint64:ro:latest=18446744073709551615", "--element", "5:Raw:data", "--element",
        "6:Unset:bool",
    ]

    private func withService(
        _ arguments: [String] = elements, _ body: (_ service: ChildProcess, _ target: String) async throws -> Void
    ) async throws {
        let all = ["publish", "robot", "--name", "Rover", "--unlisted", "--address", "127.0.0.1", "--json"] + arguments
        try await ChildProcess.with(ElementalProcess.path, all) { service in
            try await body(service, "127.0.0.1:\(try await service.listeningPort())")
        }
    }

    @Test
    func describeShowsEveryElement() async throws {
        try await withService { _, target in
            let (status, output, _) = try await ElementalProcess.run("describe", target, "--json")
            #expect(status == .exited(0))
            let elements = output.compactMap { JSONLine($0) }.filter { $0.event == "element" }
            #expect(
                elements.compactMap { $0["element"] as String? } == ["Speed", "Label", "Aim", "Count", "Raw", "Unset"])
            #expect(elements.map { $0["access"] as String? } == ["rw", "rw", "wo", "ro", "rw", "rw"])
            #expect(elements.map { $0["transport"] as String? } == ["tcp", "tcp", "udp", "tcp", "tcp", "tcp"])
            #expect(output.contains { $0.contains("18446744073709551615") })
        }
    }

    @Test
    func getPrintsWhatWasSet() async throws {
        try await withService { service, target in
            let first = try await ElementalProcess.run("get", target, "Speed", "Label")
            #expect(first.status == .exited(0))
            #expect(first.output == ["Speed=0.5", "Label=a = b: c"])
            let set = try await ElementalProcess.run("set", target, "Speed=0.75", "Raw=00ff10", "Aim=1,2,3")
            #expect(set.status == .exited(0))
            let second = try await ElementalProcess.run("get", target, "Speed", "Raw")
            #expect(second.output == ["Speed=0.75", "Raw=00ff10"])
            try await service.nextEvent("value") { $0["element"] == "Raw" && $0["value"] == "00ff10" }
            #expect(service.lines(of: .output).contains { $0.contains("\"Aim\"") })
        }
    }

    @Test
    func watchShowsValuesAsTheyAreTypedIntoTheService() async throws {
        try await withService { service, target in
            try await ChildProcess.with(ElementalProcess.path, ["watch", target, "Speed", "--json", "--count", "4"]) {
                watch in
                try await watch.nextEvent("value") { $0.number("value") == 0.5 }
                for value in ["0.1", "0.2", "0.3"] { try service.writeLine("Speed=\(value)") }
                let watchStatus = try await watch.waitForExit()
                #expect(watchStatus == .exited(0))
                let values = watch.lines(of: .output).compactMap { JSONLine($0) }.filter { $0.event == "value" }
                #expect(values.map { $0.number("value") } == [0.5, 0.1, 0.2, 0.3])
                #expect(values.allSatisfy { $0["element"] == "Speed" })
            }
            // An invalid line is reported and does not end the service.
            try service.writeLine("Spede=1")
            try await service.nextLine(of: .error) { $0.contains("Spede") && $0.contains("Speed") }
            service.closeInput()
            let serviceStatus = try await service.waitForExit()
            #expect(serviceStatus == .exited(0))
        }
    }

    @Test(arguments: [
        (["get", "TARGET", "Sped"], "Speed"), (["set", "TARGET", "Count=1"], "read-only"),
        (["set", "TARGET", "Speed=fast"], "number"), (["get", "TARGET", "Unset", "--timeout", "5"], "Unset"),
        (["get", "127.0.0.1:1", "Speed"], "nothing listens"),
    ])
    func invalidArgumentsFailWithTheReason(_ arguments: [String], _ hint: String) async throws {
        try await withService { _, target in
            let real = arguments.map { $0 == "TARGET" ? target : $0 }
            try await ChildProcess.with(ElementalProcess.path, real) { child in
                child.closeInput()
                let childStatus = try await child.waitForExit()
                #expect(childStatus == .exited(1), "\(child.transcript)")
                let told = child.lines(of: .error).joined(separator: " ")
                #expect(told.contains(hint), "\(child.transcript)")
                #expect(child.lines(of: .output).isEmpty, "\(child.transcript)")
            }
        }
    }

    @Test(arguments: [
        ["publish", "robot", "--element", "1:Speed"], ["publish", "robot", "--element", "200:Speed:float"],
        ["publish", "robot", "--element", "1:A:float", "--element", "1:B:float"], ["get"], ["frobnicate"],
        ["publish", "robot", "--element", "1:Speed:float=fast"], ["set", "127.0.0.1:1", "Speed"],
    ])
    func mistakesOnTheCommandLineExitWith64(_ arguments: [String]) async throws {
        try await ChildProcess.with(ElementalProcess.path, arguments) { child in
            child.closeInput()
            let childStatus = try await child.waitForExit()
            #expect(childStatus == .exited(64), "\(child.transcript)")
            #expect(!child.lines(of: .error).isEmpty)
        }
    }

    @Test("a file is sent and read back, with progress events")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("elemental-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (there, back) = (folder.appendingPathComponent("there"), folder.appendingPathComponent("back"))
        var generator = SeededGenerator(seed: 7)
        let content = Data((0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        try content.write(to: there)
        try await withService { _, target in
            let set = try await ElementalProcess.run("set", target, "Raw=@\(there.path)", "--json")
            #expect(set.status == .exited(0), "\(set.errors)")
            let lines = set.output.compactMap { JSONLine($0) }
            let progress = lines.filter { $0.event == "progress" }
            #expect(progress.last?.number("byteCount") == 3_000_000)
            #expect(progress.allSatisfy { $0.number("totalByteCount") == 3_000_000 && $0["incoming"] == false })
            // Its 6,000,000 digits are not repeated to the user who gave the file.
            #expect(lines.last?.event == "set" && lines.last?.number("byteCount") == 3_000_000)

            // The shell's redirection, as a user types it.
            let elemental = try ElementalProcess.path
            try await ChildProcess.run(
                "sh", ["-c", "exec \"$0\" get \"$1\" Raw --raw >\"$2\"", elemental, target, back.path])
            #expect(try Data(contentsOf: back) == content)

            // Files of unknown size: a pipe, and one in /proc.
            let fromPipe =
                "cat \"$2\" | \"$0\" set \"$1\" Raw=@/dev/stdin && exec \"$0\" get \"$1\" Raw --raw >\"$2\".back"
            try await ChildProcess.run("sh", ["-c", fromPipe, elemental, target, there.path])
            #expect(try Data(contentsOf: URL(filePath: there.path + ".back")) == content)
            let made = try await ElementalProcess.run("set", target, "Raw=@/proc/self/smaps", "--json")
            #expect((made.output.compactMap { JSONLine($0) }.last?.number("byteCount") ?? 0) > 10_000)
            let folderAsFile = try await ElementalProcess.run("set", target, "Raw=@\(folder.path)")
            #expect(folderAsFile.errors.joined().contains("it is a folder"))

            let wrong = try await ElementalProcess.run("get", target, "Speed", "--raw")
            #expect(wrong.status == .exited(1))
            #expect(wrong.errors.joined().contains("--raw is for string and data"))
        }
    }

    @Test("set gives up when the service stops reading in the middle of a file")
    func aStoppedReceiver() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("elemental-\(UUID())")
        try Data(count: 20_000_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withService { service, target in
            let elemental = try ElementalProcess.path
            try await ChildProcess.with(elemental, ["connect", target, "--json", "--timeout", "1"]) { session in
                try session.writeLine("list")
                try await session.nextEvent("service")
                service.send(signal: SIGSTOP)
                try session.writeLine("set Raw=@\(file.path)")
                let error = try await session.nextEvent("error")
                #expect(error["code"] == "timedOut")
                let message: String? = error["message"]
                #expect(message?.contains("accepts nothing more") == true, "\(message ?? "")")
                service.send(signal: SIGCONT)
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func signalsEndAServiceCleanlyAndItsClientsAreTold(_ signal: Int32) async throws {
        try await withService { service, target in
            try await ChildProcess.with(ElementalProcess.path, ["watch", target, "--json"]) { watch in
                try await watch.nextEvent("value")
                service.send(signal: signal)
                let serviceStatus = try await service.waitForExit()
                #expect(serviceStatus == .exited(0), "\(service.transcript)")
                let end = try await watch.nextEvent("disconnected")
                #expect(end["code"] == "shutDown")
                #expect(end["expected"] == true)
            }
        }
    }

    @Test
    func everyCommandTeaches() async throws {
        for command in [
            ["--help"], ["publish", "--help"], ["browse", "--help"], ["describe", "--help"], ["get", "--help"],
            ["set", "--help"], ["watch", "--help"], ["connect", "--help"], ["bench", "--help"],
            ["bench", "latency", "--help"], ["bench", "throughput", "--help"], ["bench", "serve", "--help"],
            ["c64", "--help"], ["c64", "gateway", "--help"], ["c64", "terminal", "--help"], ["c64", "run", "--help"],
            ["c64", "cpu-test", "--help"],
        ] {
            try await ChildProcess.with(ElementalProcess.path, command) { child in
                let childStatus = try await child.waitForExit()
                #expect(childStatus == .exited(0))
                #expect(child.lines(of: .output).contains { $0.contains("$ elemental") }, "\(command) shows no example")
            }
        }
    }
}
