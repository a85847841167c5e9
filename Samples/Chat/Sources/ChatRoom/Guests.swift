/// Who is in the room, as their lines and notes tell, and who is typing.
struct Guests {
    private var seen: [String: ContinuousClock.Instant] = [:]
    private var typing: [String: ContinuousClock.Instant] = [:]
    private var toldNames: [String] = []
    private var toldTyping: [String] = []

    /// After this time without a note a guest counts as gone.
    private static let patience = Duration.seconds(30)
    private static let typingTime = Duration.seconds(4)
    private static let most = 200

    /// - Returns: whether it is from somebody who was not there.
    mutating func note(_ text: String, from name: String) -> Bool {
        let isNew = seen[name] == nil
        guard !isNew || seen.count < Self.most else { return false }
        seen[name] = .now
        if text == "typing" { typing[name] = .now }
        return isNew
    }

    mutating func hasSaid(_ name: String) { typing[name] = nil }

    /// The names, if they have changed since the last call.
    mutating func changedNames() -> [String]? {
        let now = ContinuousClock.now
        seen = seen.filter { now - $1 < Self.patience }
        return Self.changed(seen.keys.sorted(), &toldNames)
    }

    mutating func changedTyping() -> [String]? {
        let now = ContinuousClock.now
        typing = typing.filter { now - $1 < Self.typingTime }
        return Self.changed(typing.keys.sorted(), &toldTyping)
    }

    private static func changed(_ names: [String], _ told: inout [String]) -> [String]? {
        guard names != told else { return nil }
        told = names
        return names
    }
}

/// The identifiers of the last lines.
struct RecentIdentifiers {
    private var order: [String] = []
    private var all: Set<String> = []
    private static let most = 5000

    func contains(_ id: String) -> Bool { all.contains(id) }

    /// - Returns: whether it was not there.
    mutating func insert(_ id: String) -> Bool {
        guard all.insert(id).inserted else { return false }
        order.append(id)
        if order.count > 2 * Self.most {
            for old in order.prefix(Self.most) { all.remove(old) }
            order.removeFirst(Self.most)
        }
        return true
    }
}
