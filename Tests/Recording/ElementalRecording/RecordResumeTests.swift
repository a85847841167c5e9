import ElementalFollowing
import Foundation
import Support
import TestSupport
import Testing

@testable import Elemental
@testable import ElementalCLI
@testable import ElementalRecording

/// `elemental record --resume` and `export TARGET`: values that services keep.
struct RecordResumeTests {
    private static let elements = [
        "--element", "1:Count:uint32:ro:timed:history 24h", "--element", "2:Short:uint32:ro:history 10", "--element",
        "3:Plain:uint32=0", "--history", "memory",
    ]

    private static func events(_ file: String, _ name: String) async throws -> [JSONLine] {
        let result = try await ElementalProcess.run("export", file, "--json", "--only", name)
        #expect(result.status == .exited(0), "\(result)")
        return result.output.compactMap { JSONLine($0) }
    }

    private static func values(_ file: String, _ name: String) async throws -> [Double] {
        try await events(file, name).filter { $0.event == "value" }.compactMap { $0.number("value") }
    }

    /// Waits until the service has what was sent to it.
    private static func wait(for number: Int, _ service: ChildProcess, _ target: String) async throws {
        try service.writeLine("Plain=\(number)")
        try await eventually("all values are set") {
            try await ElementalProcess.run("get", target, "Plain").output.contains("Plain=\(number)")
        }
    }

    private static func count(in files: [String]) async throws -> Int {
        var count = 0
        for file in files where FileManager.default.fileExists(atPath: file) {
            count += Int(try await RecordBed.info(file).first?.number("values") ?? 0)
        }
        return count
    }

    private static func withService(
        _ body: (_ service: ChildProcess, _ target: String, _ folder: String) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            try await ChildProcess.with(ElementalProcess.path, RecordBed.publish(elements: elements)) { service in
                try await body(service, "127.0.0.1:\(try await service.listeningPort())", folder)
            }
        }
    }

    private static func record(_ target: String, to file: String, _ folder: String, only: String) -> [String] {
        ["record", target, "--to", file, "--resume", "--only", only, "--state", "\(folder)/state", "--json"]
    }

    @Test("recorders that are killed while values come: every value is in exactly one file", .backstop)
    func everyValueIsInOneFile() async throws {
        try await Self.withService { service, target, folder in
            var (files, last) = ([String](), 0)
            func send(_ count: Int) throws {
                for _ in 0..<count {
                    last += 1
                    try service.writeLine("Count=\(last)")
                }
            }
            try send(300)
            for round in 1...4 {
                try await Self.wait(for: last, service, target)
                let before = try await Self.count(in: files)
                files.append("\(folder)/\(round).mcap")
                let arguments = Self.record(target, to: files[round - 1], folder, only: "Count")
                try await ChildProcess.with(ElementalProcess.path, arguments) { recorder in
                    try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                    try send(200)
                    try await eventually("values in the file") { try await Self.count(in: files) > before }
                    if round == 4 {
                        try await eventually("all values") { try await Self.count(in: files) >= last }
                        recorder.send(signal: SIGTERM)
                    } else {
                        try send(50 * round)
                        recorder.send(signal: SIGKILL)
                    }
                    _ = try await recorder.waitForExit()
                }
                if round < 4 { try send(100) }
            }
            var numbers: [Double] = []
            for file in files {
                let events = try await Self.events(file, "Count")
                numbers += events.filter { $0.event == "value" }.compactMap { $0.number("value") }
                // What was missed was measured before the recorder was connected.
                let connected = try #require(events.first { $0.event == "connected" }?.number("time"))
                #expect(try #require(events.first { $0.event == "value" }?.number("time")) < connected)
            }
            let steps = zip([0] + numbers, numbers).filter { $1 != $0 + 1 }
            #expect(numbers.last == Double(last) && steps.isEmpty, "\(steps)")
            let folders = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/state/resume")
            #expect(folders.count { $0.hasPrefix("record-") && !$0.hasSuffix(".lock") } == 1)
        }
    }

    @Test("what the service keeps no more is told in the file, and other elements are recorded as before", .backstop)
    func gaps() async throws {
        try await Self.withService { service, target, folder in
            for round in 1...2 {
                let file = "\(folder)/\(round).mcap"
                for number in 1...25 { try service.writeLine("Short=\(100 * round + number)") }
                try await Self.wait(for: round, service, target)
                let arguments = ["record", target, "--to", file, "--resume", "--state", "\(folder)/state", "--json"]
                try await ChildProcess.with(ElementalProcess.path, arguments) { recorder in
                    try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                    try await RecordBed.waitForValues(11, in: file)
                    recorder.send(signal: SIGTERM)
                    #expect(try await recorder.nextEvent("recorded").number("lost") == 0)
                    _ = try await recorder.waitForExit()
                }
                #expect(try await Self.values(file, "Short") == (16...25).map { Double(100 * round + $0) })
                #expect(try await Self.values(file, "Plain") == [Double(round)])
                let lost = try await RecordBed.info(file).filter { $0.event == "lost" }
                #expect(lost.map { $0.number("count") } == (round == 1 ? [] : [15]))
            }
        }
    }

    @Test("values that a killed recorder wrote behind its last position are not recorded once more")
    func tail() async throws {
        try await withFolder { folder in
            let state = try StateOptions.parse(["--state", "\(folder)/state"])
            func open(_ name: String) async throws -> ResumedRecording {
                try await ResumedRecording.open("\(folder)/\(name).mcap", state, Console(json: true))
            }
            let (first, isKilled) = (try await open("1"), Locked(false))
            let (key, count) = (RecorderTests.rover, RecordedHistoryTests.count.definition)
            #expect(first.beginning(of: count, key) == .oldest)
            var options = RecorderOptions()
            options.interval = .seconds(3600)
            options.onPositions = { if !isKilled.withLock({ $0 }) { first.keep($0) } }
            let recorder = try await Recorder(path: "\(folder)/1.mcap", options: options)
            RecorderTests.connect(recorder, key, RecordedHistoryTests.elements)
            for number in 1...14 as ClosedRange<UInt32> {
                recorder.note(try RecordedHistoryTests.value(number))
                if number == 10 { await recorder.flush() }
                if number == 10 { isKilled.withLock { $0 = true } }
            }
            await recorder.flush()

            /// What of a history is recorded: values, and gaps as negative numbers, 0 for one that is not known.
            func recorded(_ values: ClosedRange<UInt32>, behind gap: HistoryGap? = nil) async throws -> [Int] {
                let second = try await open("2")
                #expect(second.beginning(of: count, key) == .position(try RecordedHistoryTests.position(10)))
                var events: [FollowerEvent] = []
                if let gap { events.append(.history(key, count, .gap(gap))) }
                for number in values { events.append(try RecordedHistoryTests.value(number)) }
                return events.compactMap { second.recorded($0) }.compactMap { event in
                    guard case .history(_, _, let item) = event else { return nil }
                    switch item {
                    case .gap(let gap): return -Int(gap.count ?? 0)
                    case .value(let value): return Int(value.value.description)
                    }
                }
            }
            #expect(try await recorded(11...16) == [15, 16])
            #expect(try await recorded(13...16, behind: HistoryGap(count: 2, maximumCount: 2)) == [15, 16])
            #expect(try await recorded(15...16, behind: HistoryGap(count: 4, maximumCount: 4)) == [15, 16])
            #expect(try await recorded(17...18, behind: HistoryGap(count: 6, maximumCount: 6)) == [-2, 17, 18])
            // Another history, of which nothing is recorded.
            #expect(try await recorded(1...3, behind: HistoryGap(count: nil, maximumCount: nil)) == [0, 1, 2, 3])
            // Without the file nothing is known of its end.
            try FileManager.default.removeItem(atPath: "\(folder)/1.mcap")
            #expect(try await recorded(11...12) == [11, 12])
            await recorder.finish()
        }
    }

    @Test("a recorder that is killed before it has saved where its values end leaves where they begin")
    func head() async throws {
        try await withFolder { folder in
            let state = try StateOptions.parse(["--state", "\(folder)/state"])
            let key = RecorderTests.rover
            // The second one begins behind the first one's values.
            for (name, values, last) in [("1", 1...10, 10), ("2", 1...14, 14)] as [(String, ClosedRange<UInt32>, Int)] {
                let resumed = try await ResumedRecording.open(
                    "\(folder)/\(name).mcap", state, Console(json: true))
                let hasBegun = Locked(false)
                var options = RecorderOptions()
                options.interval = .seconds(3600)
                options.onPositions = { positions in
                    let isFirst = hasBegun.withLock { hasBegun in
                        defer { hasBegun = true }
                        return !hasBegun
                    }
                    if isFirst { resumed.keep(positions) }
                }
                let recorder = try await Recorder(path: "\(folder)/\(name).mcap", options: options)
                RecorderTests.connect(recorder, key, RecordedHistoryTests.elements)
                for number in values {
                    if let event = resumed.recorded(try RecordedHistoryTests.value(number)) { recorder.note(event) }
                }
                await recorder.flush()
                let recorded = try await Recording(path: "\(folder)/\(name).mcap").items.reduce(into: [Int]()) {
                    if case .value(let value) = $1.content { $0.append(Int(value.value.description) ?? 0) }
                }
                #expect(recorded.last == last && recorded.count == (name == "1" ? 10 : 4), "\(recorded)")
                await recorder.finish()
            }
        }
    }

    @Test("a file of positions that is damaged is told, with what to do", .backstop)
    func damage() async throws {
        try await Self.withService { _, target, folder in
            let first = "\(folder)/1.mcap"
            try await ChildProcess.with(
                ElementalProcess.path, Self.record(target, to: first, folder, only: "Plain")
            ) { recorder in
                try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                try await RecordBed.waitForValues(1, in: first)
                recorder.send(signal: SIGTERM)
                _ = try await recorder.waitForExit()
            }
            let directory = "\(folder)/state/resume"
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            let name = try #require(names.first { $0.hasPrefix("record-") && !$0.hasSuffix(".lock") })
            let handle = try #require(FileHandle(forWritingAtPath: "\(directory)/\(name)"))
            try handle.write(contentsOf: Data("x".utf8))
            try handle.close()
            let result = try await ElementalProcess.run(
                Self.record(target, to: "\(folder)/2.mcap", folder, only: "Plain"))
            #expect(result.status == .exited(1))
            #expect(result.output.compactMap { JSONLine($0) }.last?["reason"] == "corrupt")
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/2.mcap"))
        }
    }

    // MARK: - export TARGET

    @Test("export prints what services keep, in the order of time", .backstop)
    func export() async throws {
        try await Self.withService { service, target, folder in
            for number in 1...30 {
                try service.writeLine("Count=\(number)")
                try service.writeLine("Short=\(number)")
            }
            try await Self.wait(for: 30, service, target)
            let json = try await ElementalProcess.run("export", target, "--json")
            #expect(json.status == .exited(0), "\(json)")
            let events = json.output.compactMap { JSONLine($0) }
            #expect(Set(events.compactMap(\.event)) == ["value"])
            let times = events.compactMap { $0.number("time") }
            #expect(times.count == 40 && times == times.sorted())
            for (name, numbers) in [("Count", 1...30), ("Short", 21...30)] {
                let values = events.filter { $0["element"] == name }.compactMap { $0.number("value") }
                #expect(values == numbers.map(Double.init))
            }

            let since = try await ElementalProcess.run("export", target, "--csv", "--since", "1h", "--only", "short")
            #expect(since.status == .exited(0) && since.output.count == 11)
            #expect(since.output.first == "time,service,instance,element,value,unit\r")
            #expect(since.output.last?.hasSuffix(",Short,30,\r") == true)
            #expect(since.errors.contains { $0.contains("Short: at most 20 values are missing here") }, "\(since)")
            let gap = try await ElementalProcess.run("export", target, "--json", "--since", "1h", "--only", "Short")
            let first = try #require(gap.output.first.flatMap { JSONLine($0) })
            #expect(first.event == "gap" && first.number("atMost") == 20)

            let wide = try await ElementalProcess.run("export", target, "--csv", "--wide")
            #expect(wide.output.first == "time,Count,Short\r" && wide.output.last?.hasSuffix(",30,30\r") == true)
        }
    }

    @Test("two services are merged, and what keeps no values is told", .backstop)
    func exportOfSeveral() async throws {
        try await Self.withService { service, target, folder in
            try await ChildProcess.with(ElementalProcess.path, RecordBed.publish(elements: Self.elements)) { other in
                let second = "127.0.0.1:\(try await other.listeningPort())"
                for number in 1...5 {
                    for (process, place) in [(service, target), (other, second)] {
                        try process.writeLine("Count=\(number)")
                        try await Self.wait(for: number, process, place)
                    }
                }
                let both = try await ElementalProcess.run("export", target, second, "--json")
                let numbers = both.output.compactMap { JSONLine($0) }.compactMap { $0.number("value") }
                #expect(numbers == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], "\(both)")
            }
            let plain = try await ElementalProcess.run("export", target, "--csv", "--only", "Plain")
            #expect(plain.status == .exited(2) && plain.errors.joined().contains("':history 24h'"), "\(plain)")
            let unknown = try await ElementalProcess.run("export", target, "--csv", "--only", "Cout")
            #expect(unknown.status == .exited(3) && unknown.errors.joined().contains("did you mean 'Count'?"))
            let file = "\(folder)/x.mcap"
            try await ChildProcess.with(ElementalProcess.path, ["record", target, "--to", file, "--json"]) {
                recorder in
                try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                recorder.send(signal: SIGTERM)
                _ = try await recorder.waitForExit()
            }
            let other = try await ElementalProcess.run("export", file, "--csv", "--only", "Cout")
            #expect(other.status == .exited(3) && other.errors.joined().contains("did you mean 'Count'?"))
        }
    }

    @Test(
        "an argument is a recording or a TARGET",
        arguments: [
            (["robot.mcap"], ExportCommand.Subject.file("robot.mcap")), (["/tmp/x"], .file("/tmp/x")),
            (["./robot"], .file("./robot")), (["robot"], .targets([.service("robot", name: nil)])),
            (
                ["robot/Rover", "pi:5000"],
                .targets([.service("robot", name: "Rover"), .address(HostPort(host: "pi", port: 5000))])
            ),
        ])
    func subjects(_ words: [String], _ subject: ExportCommand.Subject) throws {
        #expect(try ExportCommand.Subject(words) == subject)
    }
}
