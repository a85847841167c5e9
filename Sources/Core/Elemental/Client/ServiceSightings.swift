import Support

/// Interprets a browser's events about one service while its device is disconnected: whether the service is back.
struct ServiceSightings {
    /// The service is listed.
    struct Sighting {
        let service: DiscoveredService
        /// Whether it has moved, reappeared or is newly listed, as opposed to a cached record.
        let isReturn: Bool
        /// Whether its port or one of its addresses has changed.
        let hasMoved: Bool
    }

    /// mDNS caches answer immediately: a service first reported later than this was not listed before.
    static let cacheTime = Duration.seconds(1)

    private let name: String
    private let start: ContinuousClock.Instant
    private var known: Connector.Endpoint
    private var isListed = false
    private var wasGone = false

    /// - Parameters:
    ///   - name: the service's instance name.
    ///   - known: the last known location of the service.
    init(_ name: String, known: Connector.Endpoint, at now: ContinuousClock.Instant) {
        self.name = name
        self.known = known
        start = now
    }

    /// - Returns: where the service is, if the event says so.
    mutating func take(_ event: ElementalBrowser.Event, at now: ContinuousClock.Instant) -> Sighting? {
        switch event {
        case .found(let service), .updated(let service):
            guard service.name.isSameName(as: name) else { return nil }
            let hasMoved = !known.covers(service.endpoint)
            let isNew = !isListed && now - start > Self.cacheTime
            defer {
                known = service.endpoint
                isListed = true
                wasGone = false
            }
            return Sighting(service: service, isReturn: hasMoved || wasGone || isNew, hasMoved: hasMoved)
        case .gone(_, let name):
            if name.isSameName(as: self.name) { wasGone = true }
            return nil
        case .unresolved, .failed:
            return nil
        }
    }
}
