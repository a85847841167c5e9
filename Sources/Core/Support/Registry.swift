/// Entries under tokens, in the order in which they were added. A token is never reused. Release removed entries
/// outside the lock that guards the registry: an entry may hold the last reference to an object of the program.
package struct Registry<Entry> {
    private var entries: [UInt64: Entry] = [:]
    private var lastToken: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }
    package var all: [Entry] { entries.sorted { $0.key < $1.key }.map(\.value) }

    /// - Returns: the token for ``take(_:)``.
    package mutating func add(_ entry: Entry) -> UInt64 {
        lastToken += 1
        entries[lastToken] = entry
        return lastToken
    }

    package mutating func take(_ token: UInt64) -> Entry? { entries.removeValue(forKey: token) }

    package mutating func takeAll() -> [Entry] {
        defer { entries = [:] }
        return all
    }
}

extension Registry: Sendable where Entry: Sendable {}
