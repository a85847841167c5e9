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

/// The positions of the last recorded values of a folder's recordings, for `record --resume`: saved in the state directory
/// while it records.
///
/// A recorder that was killed may have recorded values after the saved positions. These are counted in its file.
final class ResumedRecording: Sendable {
    private struct State {
        /// Where to continue.
        var positions: [ResumePlace.Name: HistoryPosition] = [:]
        /// The number of values after the position that are recorded already.
        var recordedCounts: [ResumePlace.Name: UInt64] = [:]
        var hasWarned = false
    }

    private let places: ResumeFile
    /// The recording's absolute path.
    private let path: String
    private let state: Locked<State>
    private let console: Console

    /// Reads where the recordings in the folder of `file` end.
    static func open(_ file: String, _ options: StateOptions, _ console: Console) async throws -> ResumedRecording {
        try await Blocking.run { try ResumedRecording(file, options, console) }
    }

    /// Blocks.
    private init(_ file: String, _ options: StateOptions, _ console: Console) throws {
        let (folder, name) = Self.split(file)
        places = try ResumeFile("record-\(String(folder.utf8.fnv1a, radix: 16))", folder: folder, options)
        path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
        self.console = console
        var state = State()
        // The places of one recording may have different times: an element without new values keeps its earlier place.
        var tails: [ResumePlace.Recording: [UInt16: Int]] = [:]
        for place in try places.read() {
            guard let position = place.historyPosition, let recording = place.recording, let channel = place.channel
            else { continue }
            state.positions[place.name] = position
            let counts =
                tails[recording]
                ?? Recording.messageCounts(
                    of: recording.file, begunAt: recording.start, behind: recording.byteCount) ?? [:]
            tails[recording] = counts
            if let count = counts[channel] { state.recordedCounts[place.name] = UInt64(count) }
        }
        // Fails early if places cannot be written.
        try places.add([])
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

    /// The position at which the history of an element begins.
    func beginning(of element: ElementDefinition, _ key: ServiceKey) -> HistoryBeginning {
        state.withLock { $0.positions[ResumePlace.Name(key: key, element: element.name)] }
            .map { .position($0) } ?? .oldest
    }

    /// The event to record; `nil` for a value that an earlier recording has.
    func recorded(_ event: FollowerEvent) -> FollowerEvent? {
        guard case .history(let key, let element, let item) = event else { return event }
        let name = ResumePlace.Name(key: key, element: element.name)
        return state.withLock { state in
            let count = state.recordedCounts[name] ?? 0
            switch item {
            case .value(let value):
                if state.positions[name] != nil || state.positions.count < ResumeFile.maximumCount {
                    state.positions[name] = value.position
                }
                state.recordedCounts[name] = count > 1 ? count - 1 : nil
                return count == 0 ? event : nil
            case .gap(let gap):
                guard count > 0 else { return event }
                // The recorded values are the first of the missing ones, unless the history was replaced.
                let missing = gap.count ?? .max
                state.recordedCounts[name] = missing >= count ? nil : count - missing
                guard let all = gap.count else { return event }
                let rest = all > count ? all - count : 0
                return rest == 0 ? nil : .history(key, element, .gap(HistoryGap(count: rest, maximumCount: rest)))
            }
        }
    }

    /// Saves the positions of the recorded values. Blocks.
    func keep(_ positions: RecordedPositions) {
        let recording = ResumePlace.Recording(file: path, start: positions.start, byteCount: positions.byteCount)
        let new = positions.positions.map { end in
            ResumePlace(
                ResumePlace.Name(key: end.key, element: end.element), end.position, in: recording, channel: end.channel)
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
