import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// The commands against a service at HOST:PORT on this machine; no Zeroconf.
struct ControlTests {
    private static let elements = [
        "1:Speed:float:rw=0.5", "2:Label:string=a = b: c", "3:Aim:float3:udp:wo",
        "4:Count:uint64:ro:latest=18446744073709551615", "5:Raw:data", "6:Unset:bool",
    ]

    @Test
    func describeShowsEveryElement() async throws {
        try await Robot.with(Self.elements) { _, target in
            let output = try await expectSuccess("describe", target, "--json")
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
        try await Robot.with(Self.elements) { service, target in
            let first = try await expectSuccess("get", target, "Speed", "Label")
            #expect(first == ["Speed=0.5", "Label=a = b: c"])
            try await expectSuccess("set", target, "Speed=0.75", "Raw=00ff10", "Aim=1,2,3")
            let second = try await ElementalProcess.run("get", target, "Speed", "Raw")
            #expect(second.output == ["Speed=0.75", "Raw=00ff10"])
            try await service.nextEvent("value") { $0["element"] == "Raw" && $0["value"] == "00ff10" }
            // Over UDP, so before or after the other.
            try await service.nextEvent("value") { $0["element"] == "Aim" }
        }
    }

    @Test("get without names prints what is set, large values too, and names what is not")
    func getWithoutNames() async throws {
        try await Robot.with(Self.elements + ["7:More:data"]) { _, target in
            let few = try await ElementalProcess.run("get", target)
            #expect(few.status == .exited(0))
            #expect(few.output == ["Speed=0.5", "Label=a = b: c", "Count=18446744073709551615"], "\(few)")
            #expect(few.errors.last?.hasSuffix("has not set 'Raw', 'Unset' and 'More'") == true, "\(few)")
            try await withFolder { folder in
                try Data(count: 3_000_000).write(to: URL(filePath: folder + "/large"))
                try await expectSuccess("set", target, "Raw=@\(folder)/large", "More=@\(folder)/large", "Unset=on")
            }
            let all = try await ElementalProcess.run("get", target, "--json")
            let values = all.output.compactMap { JSONLine($0) }.filter { $0.event == "value" }
            #expect(values.map { $0["element"] } == ["Speed", "Label", "Count", "Raw", "Unset", "More"])
            #expect(values.allSatisfy { $0["instance"] == "Rover" || $0["instance"] == target })
            #expect(values.map { ($0["value"] ?? "").count } == [0, 8, 0, 6_000_000, 0, 6_000_000])
            #expect(all.status == .exited(0) && all.errors.isEmpty)
        }
    }

    @Test
    func watchShowsValuesAsTheyAreTypedIntoTheService() async throws {
        try await Robot.with(Self.elements) { service, target in
            try await withCommand(["watch", target, "Speed", "--json", "--count", "4"]) { watch in
                try await watch.nextEvent("value") { $0.number("value") == 0.5 }
                for value in ["0.1", "0.2", "0.3"] { try service.writeLine("Speed=\(value)") }
                try await watch.expectExit()
                let values = watch.events("value")
                #expect(values.map { $0.number("value") } == [0.5, 0.1, 0.2, 0.3])
                #expect(values.allSatisfy { $0["element"] == "Speed" })
            }
            // An invalid line is reported and does not end the service.
            try service.writeLine("Spede=1")
            try await service.nextLine(of: .error) { $0.contains("Spede") && $0.contains("Speed") }
            service.closeInput()
            try await service.expectExit()
        }
    }

    @Test(
        arguments: [
            (["get", "TARGET", "Sped"], "Speed", 3), (["set", "TARGET", "Count=1"], "read-only", 2),
            (["set", "TARGET", "Speed=fast"], "number", 2), (["get", "127.0.0.1:1", "Speed"], "nothing listens", 1),
        ] as [([String], String, Int32)])
    func invalidArgumentsFailWithTheReason(_ arguments: [String], _ hint: String, _ status: Int32) async throws {
        try await Robot.with(Self.elements) { _, target in
            let result = try await ElementalProcess.run(arguments.map { $0 == "TARGET" ? target : $0 })
            #expect(result.status == .exited(status), "\(result)")
            #expect(result.errors.joined(separator: " ").contains(hint), "\(result)")
            #expect(result.output.isEmpty, "\(result)")
        }
    }

    @Test
    func getWaitsForAnElementThatIsNotSetAsLongAsTimeoutSays() async throws {
        try await Robot.with(Self.elements) { _, target in
            let result = try await withGrowingTimeout { seconds in
                let result = try await ElementalProcess.run("get", target, "Unset", "--timeout", seconds)
                guard result.errors.last?.contains("has not set 'Unset'") == true else {
                    throw TestSupportError("\(result)")
                }
                return result
            }
            #expect(result.status == .exited(5) && result.output.isEmpty)
        }
    }

    @Test(arguments: [
        ["publish", "robot", "--element", "1:Speed"], ["publish", "robot", "--element", "200:Speed:float"],
        ["publish", "robot", "--element", "1:A:float", "--element", "1:B:float"], ["get"], ["frobnicate"],
        ["publish", "robot", "--element", "1:Speed:float=fast"], ["set", "127.0.0.1:1", "Speed"],
    ])
    func mistakesAreRefused(_ arguments: [String]) throws { try Mistake.expect(in: arguments) }

    @Test("a file is sent and read back, with progress events")
    func files() async throws {
        try await withFolder { folder in
            let (there, back) = (folder + "/there", folder + "/back")
            var generator = SeededGenerator(seed: 7)
            let content = Data((0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
            try content.write(to: URL(filePath: there))
            try await Robot.with(Self.elements) { _, target in
                let set = try await expectSuccess("set", target, "Raw=@\(there)", "--json")
                let lines = set.compactMap { JSONLine($0) }
                let progress = lines.filter { $0.event == "progress" }
                #expect(progress.last?.number("byteCount") == 3_000_000)
                #expect(progress.allSatisfy { $0.number("totalByteCount") == 3_000_000 && $0["incoming"] == false })
                // Its 6,000,000 digits are not repeated to the user who gave the file.
                #expect(lines.last?.event == "set" && lines.last?.number("byteCount") == 3_000_000)

                // The shell's redirection, as a user types it.
                let elemental = try ElementalProcess.path
                try await ChildProcess.run(
                    "sh", ["-c", "exec \"$0\" get \"$1\" Raw --raw >\"$2\"", elemental, target, back])
                #expect(try Data(contentsOf: URL(filePath: back)) == content)

                // Files of unknown size: a pipe, and one in /proc.
                let fromPipe =
                    "cat \"$2\" | \"$0\" set \"$1\" Raw=@/dev/stdin && exec \"$0\" get \"$1\" Raw --raw >\"$2\".back"
                try await ChildProcess.run("sh", ["-c", fromPipe, elemental, target, there])
                #expect(try Data(contentsOf: URL(filePath: there + ".back")) == content)
                let made = try await ElementalProcess.run("set", target, "Raw=@/proc/self/smaps", "--json")
                #expect((made.output.compactMap { JSONLine($0) }.last?.number("byteCount") ?? 0) > 10_000)
                let folderAsFile = try await ElementalProcess.run("set", target, "Raw=@\(folder)")
                #expect(folderAsFile.errors.joined().contains("it is a folder"))

                let wrong = try await expectFailure("get", target, "Speed", "--raw", status: 64)
                #expect(wrong.errors.joined().contains("--raw is for string and data"))
            }
        }
    }

    @Test("set gives up when the service stops reading in the middle of a file")
    func aStoppedReceiver() async throws {
        try await withFolder { folder in
            try Data(count: 20_000_000).write(to: URL(filePath: folder + "/file"))
            try await withGrowingTimeout { seconds in
                try await Robot.with(Self.elements) { service, target in
                    try await withCommand(["connect", target, "--json", "--timeout", seconds]) { session in
                        try session.writeLine("list")
                        try await session.nextEvent("service")
                        service.send(signal: SIGSTOP)
                        try session.writeLine("set Raw=@\(folder)/file")
                        try await session.nextEvent("error") { error in
                            let message: String = error["message"] ?? ""
                            return error["reason"] == "timedOut" && message.contains("accepted too little")
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func signalsEndAServiceCleanlyAndItsClientsAreTold(_ signal: Int32) async throws {
        try await Robot.with(Self.elements) { service, target in
            try await withCommand(["watch", target, "--json"]) { watch in
                try await watch.nextEvent("value")
                try await service.expectExit(after: signal)
                let end = try await watch.nextEvent("disconnected")
                #expect(end["reason"] == "shutDown")
                #expect(end["expected"] == true)
            }
        }
    }

    @Test
    func everyCommandTeaches() {
        func check(_ command: any ParsableCommand.Type, _ names: [String]) {
            let help = ElementalCommand.helpMessage(for: command, columns: 200)
            #expect(help.contains("$ elemental"), "\(names.joined(separator: " ")) shows no example")
            for subcommand in command.configuration.subcommands {
                check(subcommand, names + [subcommand.configuration.commandName ?? "\(subcommand)"])
            }
        }
        check(ElementalCommand.self, ["elemental"])
    }
}
