import Elemental
import Foundation
import TestSupport
import Testing

@testable import ElementalRecording

/// Files that are cut off, damaged or made to harm.
struct HostileFileTests {
    private static let elements: ElementCatalogue = [
        Element<Double>(9, "Double", transport: .udp, unit: "V", range: 0...10), Element<String>(10, "Note"),
    ]

    /// A recording of some chunks, as bytes.
    private func recorded() async throws -> [UInt8] {
        try await RecorderTests.withRecorder(RecorderTests.options(), Self.elements) { recorder, add in
            for number in 0..<3 {
                try add(.double(Double(number)), "Double")
                try add(.double(0.5), "Double")
                try add(.string("text \(number)"), "Note")
                await recorder.flush()
            }
            _ = await recorder.finish()
            return Array(try Data(contentsOf: URL(filePath: recorder.path)))
        }
    }

    /// All values of a file with these bytes.
    private func values(_ bytes: [UInt8]) throws -> (recording: Recording, values: [ElementValue]) {
        let source = try RecordingFile(of: bytes)
        let recording = try Recording(source, "memory")
        let reader = ItemReader(recording, source)
        var values: [ElementValue] = []
        while true {
            let batch = try reader.nextBatch()
            if batch.isEmpty { break }
            values += RecorderTests.values(batch).map(\.value)
        }
        _ = try recording.readEvents(source, 100)
        return (recording, values)
    }

    /// A file says how many messages each of its channels has.
    @Test
    func countsBeyondAllNumbersAreTheLargest() async throws {
        var bytes = try await recorded()
        func number(at place: Int, _ byteCount: Int) -> Int {
            bytes[place..<place + byteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        // The footer and the magic bytes are the last 37; the footer's checksum is not needed.
        let footer = bytes.count - 28
        bytes.replaceSubrange(footer + 16..<footer + 20, with: [0, 0, 0, 0])
        var place = number(at: footer, 8)
        while bytes[place] != MCAP.Opcode.statistics.rawValue { place += 9 + number(at: place + 1, 8) }
        // Behind 42 bytes of totals: the length of the list, then each channel and its count.
        let list = place + 9 + 42
        for entry in stride(from: list + 4, to: list + 4 + number(at: list, 4), by: 10) {
            bytes.replaceSubrange(entry + 2..<entry + 10, with: [UInt8](repeating: 0xFF, count: 8))
        }
        let recording = try Recording(RecordingFile(of: bytes), "memory")
        #expect(recording.valueCount == .max && recording.contents.eventCount == .max)
    }

    /// The gate cuts off and damages a file at every third byte; a length or an offset has four or eight of them.
    private static let step = Depth.isAll ? 1 : 3

    /// Whatever is cut off: all that is whole is read, in order.
    @Test
    func aFileCutOffAnywhereHasItsBeginning() async throws {
        let bytes = try await recorded()
        let whole = try values(bytes)
        #expect(whole.recording.isComplete && whole.values.count == 9)
        var counts: Set<Int> = []
        for length in stride(from: 8, to: bytes.count, by: Self.step) {
            let cut = try values(Array(bytes[..<length]))
            let isBeginning = whole.values.starts(with: cut.values) && cut.recording.valueCount == cut.values.count
            if cut.recording.isComplete || !isBeginning { Issue.record("\(cut) of \(length) bytes") }
            counts.insert(cut.values.count)
        }
        // Also within a chunk.
        #expect(counts == Set(0...9))
        #expect { _ = try values(Array(bytes[..<7])) } throws: { ($0 as? RecordingError)?.code == .notMCAP }
        #expect { _ = try values(Array("time,value\n1,2\n".utf8)) } throws: {
            ($0 as? RecordingError)?.code == .notMCAP
        }
    }

    /// Each byte in turn has another value, so that each length and each offset is wrong once.
    @Test
    func noByteMakesTheReaderFail() async throws {
        let bytes = try await recorded()
        for place in stride(from: 8, to: bytes.count, by: Self.step) {
            var damaged = bytes
            damaged[place] = place % 2 == 0 ? ~bytes[place] : bytes[place] ^ 0x80
            do {
                let read = try values(damaged)
                if read.values.count > 9 { Issue.record("\(read.values.count) values with byte \(place)") }
            } catch let error as RecordingError where error.code == .compressed || error.code == .tooLarge {
                continue
            }
        }
    }

    @Test
    func aWrongChecksumIsCounted() async throws {
        var bytes = try await recorded()
        // A digit of the first value: {"value":0.0}.
        let place = try #require(bytes.firstRange(of: Array("{\"value\":0".utf8)))
        bytes[place.upperBound - 1] = UInt8(ascii: "7")
        // Without its end the file is read through.
        let read = try values(Array(bytes.dropLast(37)))
        #expect(read.values.first == .double(7.0))
        #expect(read.recording.damageCount == 0, "messages are skipped where only counts are wanted")
        var cursor = MCAPCursor(try RecordingFile(of: bytes))
        while try cursor.next() != nil {}
        #expect(cursor.damagedChunkCount == 1)
    }

    /// Lengths that promise what is not there cost nothing.
    @Test
    func lengthsAreChecked() throws {
        func record(_ opcode: UInt8, _ length: UInt64, _ content: [UInt8] = []) -> [UInt8] {
            [opcode] + withUnsafeBytes(of: length.littleEndian) { Array($0) } + content
        }
        for length: UInt64 in [.max, .max - 8, 1 << 63 - 1, 1 << 40, 100] {
            for opcode: UInt8 in 0...20 {
                let read = try values(MCAP.magic + record(opcode, length, [UInt8](repeating: 0xFF, count: 60)))
                #expect(read.values.isEmpty && read.recording.services.isEmpty)
            }
        }
        // A chunk that says to be longer than its record, and one in a chunk.
        let head = [UInt8](repeating: 0, count: 32) + withUnsafeBytes(of: UInt64.max.littleEndian) { Array($0) }
        #expect(try values(MCAP.magic + record(6, 40, head)).values.isEmpty)
        let inner = record(6, 40, head)
        let size = withUnsafeBytes(of: UInt64(inner.count).littleEndian) { Array($0) }
        let outer = record(6, UInt64(40 + inner.count), [UInt8](repeating: 0, count: 32) + size + inner)
        #expect(try values(MCAP.magic + outer).values.isEmpty)
    }

    /// JSON that is deep, cut off, or something else than the channel says.
    @Test(arguments: [
        String(repeating: "[", count: 100_000), "{\"a\":" + String(repeating: "{\"a\":", count: 5000), "{\"value\":",
        "{\"value\":\"\\ud800\"}", "{\"value\":1e999}", "{\"value\":[1,2]}", "{\"value\":null}", "{}", "[]", "",
        "{\"value\":1",
        "{\"value\":1}x", "{\"value\":--1}", "{\"value\":\"\\u12\"}", "{\"value\" 1}", "nul", "\u{0}",
    ])
    func messagesThatAreNoValues(_ text: String) {
        let message = Array(text.utf8)
        for type in ElementType.allCases {
            let value = MessageForm.own.value(of: message, type)
            switch (text, type) {
            case ("{\"value\":\"\\ud800\"}", .string): #expect(value == .string("\u{FFFD}"))
            case ("{\"value\":[1,2]}", .float2): #expect(value == .float2([1, 2]))
            default: #expect(value == nil, "\(text.prefix(20)) \(type)")
            }
        }
        _ = MessageForm.inferred(from: message)
        _ = RecordedEvent(message: message)
    }

    @Test
    func channelsThatContradictThemselvesAreLeftOut() throws {
        func channel(_ change: (inout [String: String]) -> Void) throws -> RecordedChannel? {
            let element = try #require(RecorderTests.elements["Mode"])
            let recorded = RecordedChannel(
                service: "robot", instance: "Rover", catalogue: 0, position: 1, element: element)
            var channel = recorded.channel(7)
            var entries = Dictionary(uniqueKeysWithValues: channel.metadata.map { ($0.key, $0.value) })
            change(&entries)
            channel.metadata = entries.map { ($0.key, $0.value) }
            return RecordedChannel(channel)
        }
        #expect(try channel { _ in }?.element == RecorderTests.elements["Mode"])
        for (key, values) in [
            "id": ["128", "-1", "x", ""], "name": [""], "type": ["", "int7", "float3"], "access": ["r", ""],
            "transport": ["sctp"], "range": ["2...0", "nan...1", "0..1", "...", "0...inf"], "step": ["-1", "x"],
            "choices": ["{}", "[", "[{}]", "[{\"value\":300,\"name\":\"a\"}]"], "position": ["128", "-1"],
            "catalogue": ["-1", "99999999999"], "elemental": ["2"],
        ] {
            for value in values { #expect(try channel { $0[key] = value } == nil, "\(key)=\(value)") }
        }
        for key in ["id", "name", "type", "access", "transport", "position", "catalogue", "instance"] {
            #expect(try channel { $0[key] = nil } == nil)
        }
    }
}

extension RecordingFile {
    /// A file with these bytes, which is gone with this object.
    convenience init(of bytes: [UInt8]) throws(RecordingError) {
        try self.init(besides: FileManager.default.temporaryDirectory.appending(path: "recording").path)
        try append(bytes)
    }
}
