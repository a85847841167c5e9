import Elemental
import ElementalFollowing
import ElementalRecording
import ElementalSecurity
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where the recordings of a folder end in the histories of elements, for `record --resume`: kept in the state directory while
/// it is recorded.
///
/// A recorder that is killed may have written more values than the positions say. They are counted in its file.
final class ResumedRecording: Sendable {
    struct Name: Hashable {
        let key: ServiceKey
        let element: String
    }

    /// Where the values of an element end.
    struct Place: Codable, Sendable {
        let service: String?
        let instance: String
        let element: String
        let position: String
        /// The recording with the value of that position, which was so long then.
        let file: String
        let start: UInt64
        let byteCount: UInt64
        let channel: UInt16
        /// When this was written, in seconds since 1970.
        let time: Double

        var name: Name { Name(key: ServiceKey(service: service, name: instance), element: element) }
    }

    private struct State {
        /// Where to go on.
        var positions: [Name: HistoryPosition] = [:]
        /// How many values behind that are recorded already.
        var recordedCounts: [Name: UInt64] = [:]
        var hasWarned = false
    }

    private static let maximumCount = 8192

    private let places: RecordedPlaces
    /// The recording's absolute path.
    private let path: String
    private let state: Locked<State>
    private let console: Console

    /// Reads where the recordings in the folder of `file` end.
    static func open(_ file: String, _ options: StateOptions, _ console: Console) async throws -> ResumedRecording {
        try await Blocking.run { try ResumedRecording(file, options, console) }
    }

    /// It waits for the disk.
    private init(_ file: String, _ options: StateOptions, _ console: Console) throws {
        let (folder, name) = Self.split(file)
        places = RecordedPlaces(folder: folder, directory: try options.stateFile("").directory)
        path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
        self.console = console
        var state = State()
        var tails: [String: [UInt16: Int]] = [:]
        for place in try places.read() {
            guard let position = HistoryPosition(place.position) else { continue }
            state.positions[place.name] = position
            // The places of one recording were written at the same time, but for elements that had no value any more.
            let tail = "\(place.start) \(place.byteCount) \(place.file)"
            let counts =
                tails[tail]
                ?? Recording.messageCounts(of: place.file, begunAt: place.start, behind: place.byteCount) ?? [:]
            tails[tail] = counts
            if let count = counts[place.channel] { state.recordedCounts[place.name] = UInt64(count) }
        }
        self.state = Locked(state)
    }

    private static func split(_ file: String) -> (folder: String, name: String) {
        let slash = file.lastIndex(of: "/")
        let name = slash.map { String(file[file.index(after: $0)...]) } ?? file
        let folder = slash.map { String(file[..<$0]) } ?? "."
        let real = realpath(folder.isEmpty ? "/" : folder, nil)
        defer { free(real) }
        return (real.map { String(cString: $0) } ?? folder, name)
    }

    /// Where the values of an element begin.
    func beginning(of element: ElementDefinition, _ key: ServiceKey) -> HistoryBeginning {
        state.withLock { $0.positions[Name(key: key, element: element.name)] }.map { .position($0) } ?? .oldest
    }

    /// The event as it is to be recorded; `nil` for one that is in a recording already.
    func recorded(_ event: FollowerEvent) -> FollowerEvent? {
        guard case .history(let key, let element, let item) = event else { return event }
        let name = Name(key: key, element: element.name)
        return state.withLock { state in
            let count = state.recordedCounts[name] ?? 0
            switch item {
            case .value(let value):
                if state.positions[name] != nil || state.positions.count < Self.maximumCount {
                    state.positions[name] = value.position
                }
                state.recordedCounts[name] = count > 1 ? count - 1 : nil
                return count == 0 ? event : nil
            case .gap(let gap):
                guard count > 0 else { return event }
                // Those that are recorded are the first of the missing ones; of another history none is.
                let missing = gap.count ?? .max
                state.recordedCounts[name] = missing >= count ? nil : count - missing
                guard let all = gap.count else { return event }
                let rest = all > count ? all - count : 0
                return rest == 0 ? nil : .history(key, element, .gap(HistoryGap(count: rest, maximumCount: rest)))
            }
        }
    }

    /// Keeps the positions of what is in the file. It waits for the disk.
    func keep(_ positions: RecordedPositions) {
        let now = WallClock.seconds
        let new = positions.positions.map { end in
            Place(
                service: end.key.service, instance: end.key.name, element: end.element,
                position: end.position.description, file: path, start: positions.start,
                byteCount: positions.byteCount, channel: end.channel, time: now)
        }
        do {
            try places.add(new)
        } catch {
            let isFirst = state.withLock { state in
                defer { state.hasWarned = true }
                return !state.hasWarned
            }
            guard isFirst else { return }
            let failure = CommandFailure(error)
            console.offer(
                .warning(
                    CommandFailure(
                        failure.code,
                        "the recording goes on, but the next one with --resume cannot begin at its end: "
                            + failure.description)))
        }
    }
}

/// The file of the state directory with the places of a folder's recordings.
private struct RecordedPlaces: Sendable {
    private struct Content: Codable {
        var folder: String
        var places: [ResumedRecording.Place]
    }

    private static let maximumCount = 8192
    private static let maximumByteCount = 8 << 20

    private let folder: String
    private let file: StateFile

    init(folder: String, directory: String) {
        self.folder = folder
        let hash = String(folder.utf8.fnv1a, radix: 16)
        file = StateFile(directory: directory + "/resume", name: "record-\(hash)")
    }

    /// Reads the places, and makes sure that others can be written.
    func read() throws -> [ResumedRecording.Place] {
        guard let bytes = try file.read(limit: Self.maximumByteCount) else {
            try add([])
            return []
        }
        guard let content = Self.content(bytes) else {
            throw CommandFailure(
                "corrupt",
                "\(file.directory)/\(file.name) is damaged; remove it, and --resume begins with everything that is kept"
            )
        }
        try add([])
        return content.folder == folder ? content.places : []
    }

    /// Adds places in place of those of the same elements. When there are too many the oldest are dropped.
    func add(_ new: [ResumedRecording.Place]) throws(SecurityError) {
        try file.update(limit: Self.maximumByteCount, createsDirectory: true) { bytes in
            var content = bytes.flatMap(Self.content) ?? Content(folder: folder, places: [])
            if content.folder != folder { content = Content(folder: folder, places: []) }
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
        try? JSONDecoder().decode(Content.self, from: Data(bytes))
    }
}
