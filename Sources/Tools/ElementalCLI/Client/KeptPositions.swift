import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalSecurity
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where the values that were printed end in the histories of elements, for `watch --resume NAME`: kept in the state directory,
/// about once a second while that changes, and at the end.
final class KeptPositions: Sendable {
    /// What the file has.
    private struct Content: Codable {
        var version = 1
        /// By `SERVICE/INSTANCE/ID`, of the element, or `HOST:PORT/ID`.
        var positions: [String: String] = [:]
    }

    private struct State {
        /// As in the file.
        var positions: [String: String]
        /// Those that the file does not have yet.
        var changed: [String: String] = [:]
        /// The next write.
        var writing: Task<Void, Never>?
    }

    private static let maximumByteCount = 1 << 20

    private let file: StateFile
    private let state: Locked<State>

    /// Reads the file, if there is one.
    ///
    /// - Parameter name: that of the option.
    init(_ name: String, _ state: StateOptions) async throws {
        let path = try StateDirectory.path(explicit: state.state, environment: StateDirectory.environment)
        let file = StateFile(directory: path + "/resume", name: "\(name).json")
        let bytes = try await Blocking.run { try file.read(limit: Self.maximumByteCount) }
        var positions: [String: String] = [:]
        if let bytes {
            do {
                positions = try Self.positions(in: bytes)
            } catch {
                throw CommandFailure(
                    "corrupt",
                    "\(file.directory)/\(file.name) has no positions; remove it, or give --resume another name")
            }
        }
        self.file = file
        self.state = Locked(State(positions: positions))
    }

    /// Behind which value the element's values were printed; `nil` if none was.
    func position(_ key: ServiceKey, _ element: ElementDefinition) -> HistoryPosition? {
        state.withLock { $0.changed[Self.name(key, element)] ?? $0.positions[Self.name(key, element)] }.flatMap(
            HistoryPosition.init)
    }

    /// A value was printed.
    func note(_ key: ServiceKey, _ element: ElementDefinition, _ position: HistoryPosition) {
        state.withLock { state in
            state.changed[Self.name(key, element)] = position.description
            guard state.writing == nil else { return }
            state.writing = Task {
                await Delay.wait(.seconds(1))
                // What cannot be written now is written later, or its failure told at the end.
                try? await write()
                self.state.withLock { $0.writing = nil }
            }
        }
    }

    /// Writes what has changed, at the end of the command.
    func finish(_ console: Console) async {
        let writing = state.withLock { $0.writing }
        writing?.cancel()
        await writing?.value
        do {
            try await write()
        } catch {
            await console.talk("--resume will begin where it was before: \(CommandFailure(error).description)")
        }
    }

    /// Other programs that use the name may have written other positions meanwhile.
    private func write() async throws {
        let changed = state.withLock { $0.changed }
        guard !changed.isEmpty else { return }
        try await Blocking.finish { [file] () throws(SecurityError) in
            try file.update(limit: Self.maximumByteCount, createsDirectory: true) { before in
                let positions = before.flatMap { try? Self.positions(in: $0) } ?? [:]
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                let content = Content(positions: positions.merging(changed) { $1 })
                return (try? encoder.encode(content)).map { Array($0) + [UInt8(ascii: "\n")] }
            }
        }
        state.withLock { state in
            state.positions.merge(changed) { $1 }
            state.changed = state.changed.filter { changed[$0.key] != $0.value }
        }
    }

    private static func positions(in bytes: [UInt8]) throws -> [String: String] {
        let content = try JSONDecoder().decode(Content.self, from: Data(bytes))
        guard content.version == 1 else { throw CommandFailure("corrupt", "it has another version") }
        return content.positions
    }

    private static func name(_ key: ServiceKey, _ element: ElementDefinition) -> String {
        "\(key)/\(element.id)"
    }

    /// - Throws: for what is no name of a file.
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
