import Foundation
import TestSupport
import Testing

@testable import ElementalRecording

/// What is left out of an export or a replay is told, with a status that is not 0.
struct RecordingLossTests {
    /// Writes a file of another program with one topic.
    private static func write(_ messages: [String], to path: String) throws {
        let writer = try MCAPWriter(try RecordingFile(creating: path), library: "other")
        writer.add(MCAP.Channel(id: 1, schemaID: 0, topic: "/speed", messageEncoding: "json", metadata: []))
        for (number, message) in messages.enumerated() {
            writer.addMessage(1, at: UInt64(1000 + number)) { $0 += message.utf8 }
        }
        try writer.flush()
        try writer.finish()
    }

    /// Exports the file and replays it, and expects the same end of both.
    private static func expect(_ values: [String], _ loss: String?, of file: String) async throws {
        let export = try await ElementalProcess.run("export", file, "--csv")
        #expect(export.output.dropFirst().map { $0.split(separator: ",")[3] } == values.map { Substring($0) })
        let arguments = ["replay", file, "--publish", "--unlisted", "--address", "127.0.0.1", "--json"]
        let replay = try await ElementalProcess.run(arguments)
        let replayed = replay.output.compactMap { JSONLine($0) }.first { $0.event == "replayed" }
        if !values.isEmpty { #expect(replayed?.number("values") == Double(values.count), "\(replay)") }
        // Without any value there is nothing to replay.
        for result in values.isEmpty ? [export] : [export, replay] {
            #expect(result.status == .exited(loss == nil ? 0 : 1), "\(result)")
            if let loss { #expect(result.errors.last?.contains(loss) == true, "\(result)") }
        }
    }

    @Test(
        .backstop,
        arguments: [
            (["{\"value\":1}", "{\"value\":\"x\"}", "{\"value\":true}", "{\"value\":2}"], ["1.0", "2.0"], 2),
            // As Python's json writes it.
            (["{\"value\":NaN}", "{\"value\":1}", "{\"value\":NaN}"], ["1.0"], 2),
            (["\u{FEFF}{\"value\":1}", "{\"value\":2}"], ["1.0", "2.0"], 0),
        ] as [([String], [String], Int)])
    func valuesThatAreNone(_ messages: [String], _ values: [String], _ lost: Int) async throws {
        try await withFolder { folder in
            let file = "\(folder)/other.mcap"
            try Self.write(messages, to: file)
            try await Self.expect(values, lost == 0 ? nil : "\(lost) of 'other/speed'", of: file)
        }
    }

    @Test("a topic without JSON is counted, and does not end the reading", .backstop)
    func noJSON() async throws {
        try await withFolder { folder in
            let file = "\(folder)/other.mcap"
            try Self.write(["NaN", "[1]"], to: file)
            try await Self.expect([], "2 of '/speed'", of: file)
            // More than a batch of them between two values.
            let long = String(repeating: "x", count: 600_000)
            try Self.write(["{\"value\":1}", long, long, long, "{\"value\":2}"], to: "\(folder)/long.mcap")
            try await Self.expect(["1.0", "2.0"], "3 of 'long/speed'", of: "\(folder)/long.mcap")
        }
    }

    @Test("a wrong checksum is told where there is an index, too", .backstop)
    func wrongChecksum() async throws {
        try await withFolder { folder in
            let file = "\(folder)/other.mcap"
            try Self.write(["{\"value\":1}", "{\"value\":2}"], to: file)
            var bytes = Array(try Data(contentsOf: URL(filePath: file)))
            let place = try #require(bytes.firstRange(of: Array("{\"value\":1".utf8)))
            bytes[place.upperBound - 1] = UInt8(ascii: "7")
            try Data(bytes).write(to: URL(filePath: file))
            try await Self.expect(["7.0", "2.0"], "1 damaged parts", of: file)
        }
    }
}
