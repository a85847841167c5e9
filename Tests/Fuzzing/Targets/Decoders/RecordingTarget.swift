import Elemental
import ElementalWire
import Foundation

@testable import ElementalRecording

/// An MCAP file, of ours or of others. It is read to its end in the time that its length allows, its values are of their
/// elements' types, and there are no more of them than the file has room for.
enum RecordingTarget: FuzzTarget {
    static let name = "recording"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let whole = file(withOwnChannels: true)
        let foreign = file(withOwnChannels: false)
        return [
            whole, foreign, Array(whole.dropLast(40)), Array(whole.prefix(whole.count / 2)), withGreatestCounts(whole),
            withWrongChecksum(whole),
        ] + messages
    }

    /// The file's statistics count more messages than there are numbers. The footer's checksum is left out.
    private static func withGreatestCounts(_ file: [UInt8]) -> [UInt8] {
        var bytes = file
        func number(at place: Int, _ byteCount: Int) -> Int {
            bytes[place..<place + byteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let footer = bytes.count - 28
        bytes.replaceSubrange(footer + 16..<footer + 20, with: [0, 0, 0, 0])
        var place = number(at: footer, 8)
        while bytes[place] != MCAP.Opcode.statistics.rawValue { place += 9 + number(at: place + 1, 8) }
        let list = place + 9 + 42
        for entry in stride(from: list + 4, to: list + 4 + number(at: list, 4), by: 10) {
            bytes.replaceSubrange(entry + 2..<entry + 10, with: [UInt8](repeating: 0xFF, count: 8))
        }
        return bytes
    }

    private static func withWrongChecksum(_ file: [UInt8]) -> [UInt8] {
        var bytes = file
        if let place = bytes.firstRange(of: Array("{\"value\":1".utf8)) { bytes[place.upperBound - 1] ^= 1 }
        return bytes
    }

    private static let messages = [
        #"{"value":{"x":1,"y":-2.5e3}}"#, #"{"a":[1,2,3],"b":"\ud83d\ude00\n","c":null}"#, "\u{FEFF}{\"value\":1}",
        "{\"value\":NaN}", #"{"value":1e309}"#, #"{"value":"\ud800"}"#, #"{"value":9007199254740993.0}"#,
    ].map { MCAP.magic + Array($0.utf8) }

    /// A small file with two chunks.
    private static func file(withOwnChannels isOwn: Bool) -> [UInt8] {
        let path = FileManager.default.temporaryDirectory.appending(path: "seed-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        do {
            let writer = try MCAPWriter(try RecordingFile(creating: path), library: "fuzz")
            writer.add(RecordedEvent.schema)
            writer.add(RecordedEvent.channel(1))
            for (position, element) in SessionElements.all.prefix(4).enumerated() {
                let id = UInt16(position + 2)
                let channel = RecordedChannel(
                    service: "robot", instance: "R", catalogue: 0, position: position, element: element)
                let foreign = MCAP.Channel(
                    id: id, schemaID: 0, topic: "/\(id)", messageEncoding: "json", metadata: [])
                writer.add(isOwn ? channel.channel(id) : foreign)
            }
            writer.addMessage(1, at: 5) {
                $0 += RecordedEvent(kind: .connected, service: "robot", instance: "R", catalogue: 0).message.utf8
            }
            for round in 0..<2 {
                for position in 0..<4 {
                    writer.addMessage(UInt16(position + 2), at: UInt64(10 + round)) { $0 += "{\"value\":1}".utf8 }
                }
                try writer.flush()
            }
            try writer.addMetadata("elemental.end", [("lost", "0")])
            try writer.finish()
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            fatalError("no seed: \(error)")
        }
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        let bytes = Array(input)
        guard let source = try? RecordingFile(of: bytes) else { fatalError("no file for the input") }
        guard let recording = try? Recording(source, "fuzz") else { return }
        check(recording.services.count * 16 <= bytes.count, "more services than bytes")
        let reader = ItemReader(recording, source)
        var count = 0
        while let batch = try? reader.nextBatch(), !batch.isEmpty {
            for item in batch {
                check(item.time >= .zero, "a time before the beginning")
                guard case .value(let value) = item.content else { continue }
                count += 1
                check(value.value.type == value.element.type, "a value of another type")
                check(recording.services.indices.contains(value.service), "a value of no service")
                let element = recording.services[value.service].catalogues.lazy.joined().contains(value.element)
                check(element, "a value of no element")
            }
        }
        // A message takes a record's header, its own, and a character.
        check(count * 32 <= bytes.count, "\(count) values in \(bytes.count) bytes")
        _ = try? recording.readEvents(source, 100)
        var text = RecordingText(recording, .wideCSV)
        _ = text.head()
        // The whole input as a message.
        for type in ElementType.allCases {
            guard let value = MessageForm.own.value(of: bytes, type) else { continue }
            var again: [UInt8] = []
            value.appendMessage(to: &again)
            let read = MessageForm.own.value(of: again, type)
            check(read?.description == value.description, "a value that changes")
        }
        _ = MessageForm.inferred(from: Array(bytes.dropFirst(8)))
    }
}

extension RecordingFile {
    /// A file with these bytes, which is gone with this object.
    convenience init(of bytes: [UInt8]) throws(RecordingError) {
        try self.init(besides: FileManager.default.temporaryDirectory.appending(path: "recording").path)
        try append(bytes)
    }
}
