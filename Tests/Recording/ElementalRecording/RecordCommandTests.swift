import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalCLI

/// `elemental record`, `replay`, `export` and `info`, with real services.
struct RecordCommandTests {
    @Test(.backstop)
    func whatIsRecordedIsReplayed() async throws {
        try await RecordBed.withRecorder { target, service, recorder, file in
            for line in ["Speed=0.25", "Aim=1,-0.5", "Camera=off", "Note=eight"] { try service.writeLine(line) }
            // The three values of the beginning before them.
            try await RecordBed.waitForValues(7, in: file)
            recorder.send(signal: SIGTERM)
            let end = try await recorder.nextEvent("recorded")
            #expect(end.number("values") == 7 && end.number("lost") == 0 && end["reason"] == "finished")
            let status = try await recorder.waitForExit()
            #expect(status == .exited(0))
            #expect(end.number("bytes") == Double(try Data(contentsOf: URL(filePath: file)).count))

            let lines = try await RecordBed.info(file)
            #expect(lines.first?["complete"] == true)
            let elements = lines.filter { $0.event == "element" }
            #expect(elements.compactMap { $0["element"] as String? } == ["Speed", "Camera", "Aim", "Note", "Mode"])
            #expect(elements.map { $0.number("values") } == [2, 2, 1, 2, 0])
            let human = try await ElementalProcess.run("info", file)
            #expect(human.output.contains { $0.contains("Speed") && $0.contains("m/s") })

            // The replayed service is described in the same words.
            let replay = ["replay", file, "--publish", "--loop", "--unlisted", "--address", "127.0.0.1", "--json"]
            try await ChildProcess.with(ElementalProcess.path, replay) { replay in
                let port = try await replay.listeningPort()
                try await replay.nextEvent("replaying")
                var described: [[String]] = []
                for target in [target, "127.0.0.1:\(port)"] {
                    let lines = try await ElementalProcess.run("describe", target, "--json").output
                        .filter { $0.contains("\"event\":\"element\"") }
                    described.append(lines.map { $0.replacing(/,"value":.*/, with: "") })
                }
                #expect(described[0] == described[1] && described[0].count == 5)
                let seen = try await ElementalProcess.run(
                    "watch", "127.0.0.1:\(port)", "Note", "Speed", "--count", "12", "--json")
                #expect(seen.status == .exited(0))
                let notes = Set(seen.output.compactMap { JSONLine($0) }.compactMap { $0["value"] as String? })
                #expect(notes.isSuperset(of: ["seven", "eight"]))
                replay.send(signal: SIGINT)
                let counts = try await replay.nextEvent("replayed")
                #expect(counts.number("refused") == 0 && counts.number("values") ?? 0 > 7)
                let status = try await replay.waitForExit()
                #expect(status == .exited(0))
            }
        }
    }

    @Test(.backstop)
    func aRecorderThatIsKilledLeavesAFileThatReplays() async throws {
        try await RecordBed.withRecorder { _, service, recorder, file in
            try service.writeLine("Speed=0.25")
            try await RecordBed.waitForValues(4, in: file)
            recorder.send(signal: SIGKILL)
            _ = try await recorder.waitForExit()
            let lines = try await RecordBed.info(file)
            #expect(lines.first?["complete"] == false && lines.first?.number("values") == 4)
            let json = try await ElementalProcess.run("export", file, "--json")
            let values = json.output.compactMap { JSONLine($0) }.filter { $0.event == "value" }
            #expect(values.count == 4 && values.last?.number("value") == 0.25)

            // Into a service with other elements: what does not fit is told.
            let other = [
                "--element", "9:Speed:float:0...0.3", "--element", "2:Camera:int8", "--element", "4:Note:string:ro=x",
            ]
            try await ChildProcess.with(ElementalProcess.path, RecordBed.publish(elements: other)) { target in
                let address = "127.0.0.1:\(try await target.listeningPort())"
                let replay = try await ElementalProcess.run("replay", file, "--to", address, "--json")
                #expect(replay.status == .exited(0), "\(replay)")
                try await target.nextEvent("value") { $0["element"] == "Speed" && $0.number("value") == 0.25 }
                let events = replay.output.compactMap { JSONLine($0) }
                let refused = events.filter { $0.event == "notReplayed" }
                #expect(
                    Set(refused.compactMap { $0["reason"] as String? }) == ["outOfRange", "wrongType", "notAllowed"])
                #expect(events.last?.number("values") == 1 && events.last?.number("refused") == 3)
            }
        }
    }

    @Test(.backstop)
    func gapsAreTold() async throws {
        let port = try PortLease.port()
        try await withFolder { folder in
            let file = "\(folder)/gap.mcap"
            let arguments = ["record", "127.0.0.1:\(port)", "--json", "--to", file, "--only", "Speed"]
            try await ChildProcess.with(ElementalProcess.path, arguments) { recorder in
                // It is away before the service is there as well.
                var last = TranscriptPlace.start
                for round in 1...2 {
                    try await ChildProcess.with(ElementalProcess.path, RecordBed.publish(port: port)) { service in
                        last = try await recorder.nextEvent("serviceState", after: last) { $0["state"] == "connected" }
                            .place
                        try await RecordBed.waitForValues(round, in: file)
                        service.send(signal: SIGKILL)
                        last = try await recorder.nextEvent("serviceState", after: last) { $0["state"] == "away" }.place
                    }
                }
                recorder.send(signal: SIGINT)
                let end = try await recorder.nextEvent("recorded")
                #expect(end.number("values") == 2)
            }
            let events = try await RecordBed.info(file).compactMap(\.event)
                .filter { ["connected", "away"].contains($0) }
            #expect(events == ["connected", "away", "connected", "away"])
            let human = try await ElementalProcess.run("info", file).output
            #expect(human.count { $0.hasPrefix("at ") && $0.contains(" is away: ") } == 2)
            #expect(human.contains { $0.contains("Speed") } && !human.contains { $0.contains("Camera") })
        }
    }

    @Test(.backstop)
    func itEndsAfterItsTimeAndAtItsSize() async throws {
        try await withFolder { folder in
            let text = String(repeating: "x", count: 4000)
            try await ChildProcess.with(ElementalProcess.path, RecordBed.publish(elements: RecordBed.long)) { service in
                let target = "127.0.0.1:\(try await service.listeningPort())"
                let file = "\(folder)/size.mcap"
                let arguments = ["record", target, "--to", file, "--max-size", "65536", "--json"]
                try await ChildProcess.with(ElementalProcess.path, arguments) { recorder in
                    try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                    for _ in 0..<30 { try service.writeLine("Text=\(text)") }
                    let end = try await recorder.nextEvent("recorded")
                    #expect(end["reason"] == "limitReached")
                    let status = try await recorder.waitForExit()
                    #expect(status == .exited(0))
                }
                let lines = try await RecordBed.info(file)
                #expect(lines.first?["complete"] == true)
                #expect(lines.first?.number("bytes") ?? .infinity <= 65536)
                #expect(lines.first?.number("values") ?? 0 > 8)

                // Its time begins before it is connected.
                for seconds in ["0.3", "3", Patience.seconds] {
                    let timed = "\(folder)/time-\(seconds).mcap"
                    let result = try await ElementalProcess.run(
                        "record", target, "--for", seconds, "--to", timed, "--only", "Count")
                    if result.status != .exited(0), seconds != Patience.seconds { continue }
                    #expect(result.status == .exited(0), "\(result)")
                    #expect(result.output.count == 1 && result.output[0].hasPrefix("recorded 1 value in "))
                    break
                }
            }
            let nobody = "\(folder)/nobody.mcap"
            let result = try await ElementalProcess.run(
                "record", "127.0.0.1:\(try PortLease.port())", "--for", "0.2", "--to", nobody, "--json")
            #expect(result.status == .exited(1))
            #expect(result.output.compactMap { JSONLine($0) }.last?["reason"] == "connectionFailed")
            #expect(try await RecordBed.info(nobody).first?["complete"] == true)
        }
    }

    @Test(.backstop)
    func aNameThatNoElementHasIsToldAtOnce() async throws {
        try await withFolder { folder in
            try await ChildProcess.with(ElementalProcess.path, RecordBed.publish()) { service in
                let target = "127.0.0.1:\(try await service.listeningPort())"
                let file = "\(folder)/names.mcap"
                let result = try await ElementalProcess.run("record", target, "--to", file, "--only", "Sped")
                #expect(result.status == .exited(3))
                #expect(result.errors.last?.contains("did you mean 'Speed'?") == true, "\(result.errors)")
                let again = try await ElementalProcess.run("record", target, "--to", file)
                #expect(again.errors.last?.contains("already exists") == true, "\(again.errors)")
            }
        }
    }

    @Test(.backstop, .enabled(if: MCAPPeer.isThere, Comment(rawValue: MCAPPeer.missing)))
    func filesOfOthersAreReplayed() async throws {
        try await withFolder { folder in
            let file = "\(folder)/other.mcap"
            try await MCAPPeer.write(file, "NONE")
            let lines = try await RecordBed.info(file)
            let elements = lines.filter { $0.event == "element" }
            #expect(
                elements.compactMap { $0["element"] as String? } == [
                    "temperature", "imu/gyro", "door", "note", "status", "pose",
                ])
            #expect(
                elements.compactMap { $0["type"] as String? } == [
                    "double", "float3", "bool", "string", "string", "float4",
                ])
            #expect(elements.allSatisfy { $0.number("values") == 20 })
            let omitted: [String]? = lines.first?["omitted"]
            #expect(omitted == ["/scan: its messages are cdr, not JSON"])
            let csv = try await ElementalProcess.run("export", file, "--csv")
            #expect(
                csv.output.contains { $0.hasSuffix(",other,imu/gyro,\"3.0,0.5,-1000.0\",\r") },
                "\(csv.output.prefix(9))")

            let replay = ["replay", file, "--publish", "--loop", "--unlisted", "--address", "127.0.0.1", "--json"]
            try await ChildProcess.with(ElementalProcess.path, replay) { replay in
                let target = "127.0.0.1:\(try await replay.listeningPort())"
                let seen = try await ElementalProcess.run("watch", target, "temperature", "--count", "30", "--json")
                #expect(seen.status == .exited(0))
                let values = Set(seen.output.compactMap { JSONLine($0) }.compactMap { $0.number("value") })
                #expect(values == Set((0..<20).map { 20.5 + Double($0) }))
            }
            for (compression, name) in [("LZ4", "lz4"), ("ZSTD", "zstd")] {
                let compressed = "\(folder)/\(name).mcap"
                try await MCAPPeer.write(compressed, compression)
                let result = try await ElementalProcess.run("replay", compressed, "--publish", "--unlisted")
                #expect(result.status == .exited(1))
                let advice = result.errors.last ?? ""
                #expect(
                    advice.contains("compressed with \(name)") && advice.contains("mcap compress --compression none"))
            }
        }
    }

    // MARK: - The command line

    @Test(arguments: [
        (["robot", "--to", "f"], ["robot"], []),
        (["robot", "lamp", "--to", "f", "A", "B"], ["robot", "lamp"], ["A", "B"]),
        (["robot", "--name", "A", "--to=f", "A"], ["robot"], ["A"]),
        (["robot", "lamp", "--to", "f", "--name", "lamp"], ["robot", "lamp"], []),
        (["--for", "3", "robot", "--to", "f", "--max-size", "100000", "--json", "A"], ["robot"], ["A"]),
        (["--to", "f", "robot", "lamp"], ["robot", "lamp"], []),
        (["robot", "--to", "f", "record", "--for", "1", "B"], ["robot"], ["record", "B"]),
    ])
    func targetsAreBeforeTheFileAndNamesBehindIt(_ arguments: [String], _ targets: [String], _ names: [String]) throws {
        let words = try RecordCommand.parseWords(arguments)
        let split = RecordOptions.split(words, ["record"] + arguments)
        #expect(split.targets == targets && split.names == names)
    }

    @Test(arguments: [
        (["record", "robot"], "--to"),
        (["record", "robot", "--to", "f", "--max-size", "10"], "--max-size takes 65536"),
        (["replay", "f"], "give --publish or --to"), (["replay", "f", "--publish", "--to", "robot"], "not both"),
        (["replay", "f", "--publish", "--speed", "0"], "--speed takes"),
        (["replay", "f", "--publish", "--start", "-1"], "start"),
        (["replay", "f", "--to", "robot", "--port", "1"], "need --publish"),
        (["export", "f"], "give --csv or --json"),
        (["export", "f", "--csv", "--json"], "not both"),
        (["export", "f", "--json", "--wide"], "--wide needs --csv"),
        (["export", "f", "--json", "--spreadsheet"], "--spreadsheet needs --csv"),
        (["export", "f.mcap", "robot", "--json"], "give one recording"),
        (["export", "f.mcap", "--json", "--since", "1h"], "--since is for TARGETs"),
        (["export", "Robot!", "--json"], "TARGET"),
    ])
    func mistakesHaveStatus64(_ arguments: [String], _ part: String) throws {
        let error = try #require(throws: (any Error).self) { _ = try ElementalCommand.parseAsRoot(arguments) }
        #expect(ElementalCommand.exitCode(for: error).rawValue == 64)
        #expect(ElementalCommand.fullMessage(for: error).contains(part), "\(ElementalCommand.fullMessage(for: error))")
    }

    @Test
    func aFileThatIsNoneIsTold() async throws {
        for command in [["info"], ["export", "--csv"], ["replay", "--publish", "--unlisted"]] {
            let missing = try await ElementalProcess.run(command + ["/nowhere/x.mcap"])
            #expect(missing.status == .exited(3))
            #expect(missing.errors == ["elemental: cannot read /nowhere/x.mcap: there is no such file or folder"])
            let other = try await ElementalProcess.run(command + ["/proc/self/status"])
            #expect(other.status == .exited(1) && other.errors.last?.contains("is not an MCAP file") == true)
        }
    }
}

extension RecordCommand {
    fileprivate static func parseWords(_ arguments: [String]) throws -> [String] {
        // As the command itself does it, apart from its checks, and without the file.
        var words = arguments
        if let place = words.firstIndex(where: { $0.hasPrefix("--to") }) {
            words.removeSubrange(place..<place + (words[place] == "--to" ? 2 : 1))
        }
        return try RecordOptions.parse(words).words
    }
}
