import Support

/// Interprets a browser's events while a device is disconnected: where its service may be, and whether it is back.
///
/// It is looked for under its name and, if it has proven a key, under every name with that key's fingerprint. Anyone can
/// publish either, so that there may be several places: the connection decides, and after a failure another place is next.
struct ServiceSightings {
    /// The service is listed.
    struct Sighting {
        /// Whether it has moved, reappeared or is newly listed, as opposed to a cached record.
        let isReturn: Bool
        /// Whether its port or one of its addresses has changed.
        let hasMoved: Bool
    }

    /// mDNS caches answer immediately: a service first reported later than this was not listed before.
    static let cacheTime = Duration.seconds(1)
    /// The maximum number of places: further ones are ignored.
    static let maximumCount = 8

    private let name: String
    private let shortFingerprint: String?
    private let start: ContinuousClock.Instant
    /// Where the service was when the connection was lost.
    private let lost: ServiceEndpoint
    /// The places in the order in which they are tried.
    private(set) var places: [DiscoveredService] = []
    /// How often a new place was put first.
    private var firstCount = 0
    /// The names of places that have not been tried since they were listed or moved.
    private var untried: Set<ComparableName> = []
    /// The names under which it was listed and is no more.
    private var gone: Set<ComparableName> = []

    /// - Parameters:
    ///   - name: the service's instance name.
    ///   - shortFingerprint: that of the key that it has proven.
    ///   - known: the last known location of the service.
    init(
        _ name: String, _ shortFingerprint: String? = nil, known: ServiceEndpoint, at now: ContinuousClock.Instant
    ) {
        self.name = name
        self.shortFingerprint = shortFingerprint
        lost = known
        start = now
    }

    /// - Returns: what the event says of where the service is.
    mutating func take(_ event: ElementalBrowser.Event, at now: ContinuousClock.Instant) -> Sighting? {
        switch event {
        case .found(let service), .updated(let service):
            let isNamed = service.name.isSameName(as: name)
            guard isNamed || shortFingerprint != nil && service.shortFingerprint == shortFingerprint else {
                remove(service.name)
                return nil
            }
            return take(service, isNamed: isNamed, at: now)
        case .gone(_, let name):
            if remove(name) { gone.insert(ComparableName(name)) }
            return nil
        case .unresolved, .failed:
            return nil
        }
    }

    private mutating func take(
        _ service: DiscoveredService, isNamed: Bool, at now: ContinuousClock.Instant
    ) -> Sighting? {
        let index = places.firstIndex { $0.name.isSameName(as: service.name) }
        guard index != nil || places.count < Self.maximumCount else { return nil }
        let known = index.map { places[$0].endpoint } ?? lost
        let hasMoved = !known.covers(service.endpoint)
        let wasGone = gone.remove(ComparableName(service.name)) != nil
        let isReturn = hasMoved || wasGone || index == nil && now - start > Self.cacheTime
        // New places are first, but not without end, and others keep their turn: somebody could list and move places again
        // and again to have every other attempt given up.
        if let index {
            places[index] = service
        } else {
            let isFirst = firstCount < Self.maximumCount
            // An attempt that is given up for another place has said nothing of its own.
            if isFirst, let tried = places.first { untried.insert(ComparableName(tried.name)) }
            places.insert(service, at: isFirst ? 0 : places.count)
            firstCount += 1
        }
        if isReturn { untried.insert(ComparableName(service.name)) }
        let isFirst = places[0].name.isSameName(as: service.name)
        return Sighting(isReturn: isReturn, hasMoved: hasMoved && isFirst)
    }

    /// The place to connect to now.
    mutating func next() -> DiscoveredService? {
        guard let place = places.first else { return nil }
        untried.remove(ComparableName(place.name))
        return place
    }

    /// An attempt to connect to the first place has failed: another one is next.
    ///
    /// - Returns: whether that one has not been tried yet, so that nothing has to be waited for.
    mutating func noteFailure() -> Bool {
        guard !places.isEmpty else { return false }
        places.append(places.removeFirst())
        return untried.contains(ComparableName(places[0].name))
    }

    @discardableResult
    private mutating func remove(_ name: String) -> Bool {
        let count = places.count
        places.removeAll { $0.name.isSameName(as: name) }
        return places.count < count
    }
}
