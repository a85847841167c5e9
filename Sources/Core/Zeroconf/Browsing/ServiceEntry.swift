import Support

/// A browser's state of one service.
struct ServiceEntry: Sendable {
    enum Lookup {
        /// Not looked up since browsing began.
        case none
        /// Waits for a place.
        case pending
        /// Being resolved, for the first time or once more.
        case resolving(ReferenceID, limit: TimerID)
        /// Resolved. The reference reports changes for as long as it keeps its place.
        case watching(ReferenceID)
        /// Resolved. Other lookups have its place; it gets one again in its turn.
        case resting
        /// Failed; the timer begins the next attempt.
        case waiting(TimerID)
    }

    struct Location: Equatable {
        let host: String
        let port: Int
        let txt: [UInt8]
    }

    /// The number of times that browsing has listed it, for each interface: Avahi lists it once per address family.
    var interfaces: [UInt32: Int] = [:]
    var lookup = Lookup.none
    var location: Location?
    var delay = BackOff()
    var failures = 0
    /// The service as it was last reported to consumers.
    var lastReported: ResolvedService?
    var isReportedUnresolved = false

    var isListed: Bool { !interfaces.isEmpty }
    var isReported: Bool { lastReported != nil || isReportedUnresolved }
}

/// A browser's state of one host.
struct HostEntry: Sendable {
    enum Lookup {
        /// Waits for two places.
        case pending
        /// Being looked up, for the first time or once more.
        case asking
        /// Looked up. The references report changes for as long as they keep their places.
        case watching
        /// Looked up. Other lookups have its places; it gets some again in its turn.
        case resting
    }

    var lookup = Lookup.pending
    var references: [ReferenceID] = []
    /// The addresses to report: those of the last completed lookup, with the changes since.
    var addresses = HostAddresses()
    /// The addresses that the current lookup has found so far.
    var collected = HostAddresses()
    /// The resolved services on this host.
    var instances: Set<ServiceInstance> = []
    /// Whether a lookup has been completed.
    var isReady = false
    var limit: TimerID?
    var grace: TimerID?
}
