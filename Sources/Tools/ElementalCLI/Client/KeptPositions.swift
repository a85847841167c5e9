import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalSecurity
import Support

/// The positions of the last printed values, for `watch --resume NAME`: saved in the state directory about once a second while
/// they change, and at the end.
final class KeptPositions: Sendable {
    typealias Positions = [ResumePlace.Name: HistoryPosition]

    private struct State {
        var positions: Positions
        /// The positions that are not saved yet.
        var changed: Positions = [:]
        /// The next write.
        var writing: Task<Void, Never>?
    }

    private let file: ResumeFile
    private let state: Locked<State>

    /// Reads the file, if there is one.
    ///
    /// - Parameter name: the value of the option.
    init(_ name: String, _ options: StateOptions) async throws {
        let file = try ResumeFile("\(name).json", options)
        let places = try await Blocking.run { try file.read() }
        let positions = Positions(places.compactMap { place in place.historyPosition.map { (place.name, $0) } }) { $1 }
        (self.file, state) = (file, Locked(State(positions: positions)))
    }

    /// The position of the element's last printed value; `nil` if none was printed.
    func position(_ key: ServiceKey, _ element: ElementDefinition) -> HistoryPosition? {
        state.withLock { $0.positions[ResumePlace.Name(key: key, element: element.name)] }
    }

    /// Records the position of a printed value.
    func note(_ key: ServiceKey, _ element: ElementDefinition, _ position: HistoryPosition) {
        let name = ResumePlace.Name(key: key, element: element.name)
        state.withLock { state in
            (state.positions[name], state.changed[name]) = (position, position)
            guard state.writing == nil else { return }
            state.writing = Task {
                await Delay.wait(.seconds(1))
                // A failure is retried, and reported at the end.
                try? await write()
                self.state.withLock { $0.writing = nil }
            }
        }
    }

    /// Saves the changes at the end of the command.
    func finish(_ console: Console) async {
        let writing = state.withLock { $0.writing }
        writing?.cancel()
        await writing?.value
        do {
            try await write()
        } catch {
            await console.talk(
                "the position was not saved, so --resume repeats values: \(CommandFailure(error).description)")
        }
    }

    private func write() async throws {
        let changed = state.withLock { $0.changed }
        guard !changed.isEmpty else { return }
        try await Blocking.finish { [file] () throws(SecurityError) in
            try file.add(changed.map { ResumePlace($0, $1) })
        }
        state.withLock { state in state.changed = state.changed.filter { changed[$0.key] != $0.value } }
    }

    /// - Throws: `ValidationError` for a name that is not allowed.
    static func check(_ name: String) throws {
        let isName = name.utf8.allSatisfy { byte in
            let letter = UInt8(ascii: "a")...UInt8(ascii: "z")
            return letter.contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
        guard isName, (1...63).contains(name.utf8.count) else {
            throw ValidationError("--resume takes a name of 1 to 63 letters, digits, hyphens and underscores")
        }
    }
}
