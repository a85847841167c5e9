import Support

/// What a browser knows of one service.
struct ServiceEntry: Sendable {
    enum Lookup {
        /// Not looked up since browsing began.
        case none
        /// Waits for its turn.
        case pending
        /// Being resolved. A watched entry keeps its reference, which reports changes.
        case resolving(ReferenceID, limit: TimerID)
        case watching(ReferenceID)
        /// Resolved, but not watched for changes: too many others are.
        case unwatched
        /// Failed; the timer begins the next attempt.
        case waiting(TimerID)
    }

    struct Location: Equatable {
        let host: String
        let port: Int
        let txt: [UInt8]
    }

    /// How often browsing has listed it, for each interface: Avahi lists it once per address family.
    var interfaces: [UInt32: Int] = [:]
    var lookup = Lookup.none
    var isWatched = false
    var location: Location?
    var delay = BackOff()
    var failures = 0
    /// What was last reported to subscribers.
    var told: ResolvedService?
    var isToldUnresolved = false

    var isListed: Bool { !interfaces.isEmpty }
    var isTold: Bool { told != nil || isToldUnresolved }
}

/// What a browser knows of one host.
struct HostEntry: Sendable {
    var references: [ReferenceID] = []
    var addresses = HostAddresses()
    /// The services on it that are resolved.
    var instances: Set<ServiceInstance> = []
    /// Whether its addresses are complete enough to tell of them.
    var isReady = false
    var isWatched = false
    var limit: TimerID?
    var grace: TimerID?
}
