import Elemental
import ElementalFollowing
import ElementalSecurity
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A position in an element's history after which a command with `--resume` continues.
struct ResumePlace: Codable, Sendable {
    struct Name: Hashable {
        let key: ServiceKey
        /// The element's name.
        let element: String
    }

    /// The recording that contains the position's value.
    struct Recording: Codable, Hashable, Sendable {
        let file: String
        /// When the recording began: identifies the file.
        let start: UInt64
        /// The file's length when this was written.
        let byteCount: UInt64
    }

    let service: String?
    let instance: String
    let element: String
    private let position: String
    let recording: Recording?
    /// The channel of the element's messages in the recording.
    let channel: UInt16?
    /// When this was written, in seconds since 1970.
    fileprivate let time: Double

    init(_ name: Name, _ position: HistoryPosition, in recording: Recording? = nil, channel: UInt16? = nil) {
        (service, instance, element) = (name.key.service, name.key.name, name.element)
        (self.position, self.recording, self.channel) = (position.description, recording, channel)
        time = WallClock.seconds
    }

    var name: Name { Name(key: ServiceKey(service: service, name: instance), element: element) }

    var historyPosition: HistoryPosition? { HistoryPosition(position) }
}

/// A file of places in the state directory's `resume` folder. Its calls block.
struct ResumeFile: Sendable {
    private struct Content: Codable {
        var version = 1
        var folder: String?
        var places: [ResumePlace] = []
    }

    static let maximumCount = 8192
    private static let maximumByteCount = 8 << 20

    private let file: StateFile
    /// The folder of the recordings. Several folders may share the hash in the file's name.
    private let folder: String?

    init(_ name: String, folder: String? = nil, _ state: StateOptions) throws(SecurityError) {
        file = StateFile(directory: try state.stateFile("").directory + "/resume", name: name)
        self.folder = folder
    }

    /// - Throws: ``CommandFailure`` if the file is damaged, and ``SecurityError`` if it cannot be read.
    func read() throws -> [ResumePlace] {
        guard let bytes = try file.read(limit: Self.maximumByteCount) else { return [] }
        if let content = Self.content(bytes) { return content.folder == folder ? content.places : [] }
        throw CommandFailure(
            "corrupt", "\(file.directory)/\(file.name) is damaged; remove it, and --resume begins anew")
    }

    /// Replaces the places of these elements and keeps those of others, which another program may have written. Above the
    /// maximum the oldest are dropped.
    func add(_ new: [ResumePlace]) throws(SecurityError) {
        try file.update(limit: Self.maximumByteCount, createsDirectory: true) { bytes in
            var content = bytes.flatMap(Self.content) ?? Content()
            if content.folder != folder { content = Content(folder: folder) }
            let names = Set(new.map(\.name))
            content.places.removeAll { names.contains($0.name) }
            content.places = Array((new + content.places.sorted { $0.time > $1.time }).prefix(Self.maximumCount))
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            while true {
                guard let bytes = try? Array(encoder.encode(content)) else { return nil }
                if bytes.count <= Self.maximumByteCount { return bytes }
                content.places.removeLast(content.places.count / 2 + 1)
            }
        }
    }

    private static func content(_ bytes: [UInt8]) -> Content? {
        (try? JSONDecoder().decode(Content.self, from: Data(bytes))).flatMap { $0.version == 1 ? $0 : nil }
    }
}
