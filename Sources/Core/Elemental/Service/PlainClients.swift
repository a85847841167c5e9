/// The clients without pairing of a service that distinguishes them, the oldest first. Nobody vouches for them, so they
/// get only a part of what a service has.
struct PlainClients {
    /// How many of them get a UDP identifier; there are 254 in all.
    static let maximumIdentifierCount = 64

    private var sessions: [Session] = []

    /// How many of a service's places are for them: half, and at least one.
    static func capacity(of places: Int) -> Int { (places + 1) / 2 }

    var count: Int { sessions.count }

    /// How many have a UDP identifier.
    var identifierCount: Int { sessions.count { $0.udpIdentifier != 0 } }

    mutating func add(_ session: Session) { sessions.append(session) }

    mutating func remove(_ session: Session) { sessions.removeAll { $0 === session } }

    /// The one that has been connected for longest, of those for which `matches` is true.
    func oldest(where matches: (Session) -> Bool) -> Session? { sessions.first(where: matches) }
}
