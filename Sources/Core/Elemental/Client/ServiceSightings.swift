import Support

/// Interprets a browser's events while a device is disconnected: where its service may be, and whether it is back.
///
/// The service is searched for by its name and, if it has proven a key, by that key's fingerprint under any name.
/// Anyone can publish either, so there may be several places; after a failure the next one is tried.
struct ServiceSightings {
    struct Sighting {
        /// Whether the service has moved, reappeared or is newly listed, as opposed to a cached record.
        let isReturn: Bool
        let hasMoved: Bool
    }

    /// mDNS caches answer at once: a service first reported later than this was not listed before.
    static let cacheTime = Duration.seconds(1)
    static let maximumCount = 8

    private let name: String
    private let shortFingerprint: String?
    private let start: ContinuousClock.Instant
    private let lost: ServiceEndpoint
    private(set) var places: [DiscoveredService] = []
    private var firstCount = 0
    /// The names of places that have not been tried since they were listed or moved.
    private var untried: Set<ComparableName> = []
    private var gone: Set<ComparableName> = []

    /// - Parameter shortFingerprint: that of the key that the service has proven.
    init(
        _ name: String, _ shortFingerprint: String? = nil, known: ServiceEndpoint, at now: ContinuousClock.Instant
    ) {
        self.name = name
        self.shortFingerprint = shortFingerprint
        lost = known
        start = now
    }

    mutating func take(_ event: ElementalBrowser.Event, at now: ContinuousClock.Instant) -> Sighting? {
        switch event {
        case .found(let service), .updated(let service):
            guard
                service.name.isSameName(as: name)
                    || shortFingerprint != nil && service.shortFingerprint == shortFingerprint
            else {
                remove(service.name)
                return nil
            }
            return take(service, at: now)
        case .gone(_, let name):
            if remove(name) { gone.insert(ComparableName(name)) }
            return nil
        case .unresolved, .failed:
            return nil
        }
    }

    private mutating func take(_ service: DiscoveredService, at now: ContinuousClock.Instant) -> Sighting? {
        let index = places.firstIndex { $0.name.isSameName(as: service.name) }
        guard index != nil || places.count < Self.maximumCount else { return nil }
        let known = index.map { places[$0].endpoint } ?? lost
        let hasMoved = !known.covers(service.endpoint)
        let wasGone = gone.remove(ComparableName(service.name)) != nil
        let isReturn = hasMoved || wasGone || index == nil && now - start > Self.cacheTime
        // A new place comes first, but only a limited number of times: otherwise an attacker could list new places
        // again and again, so that every attempt is abandoned.
        if let index {
            places[index] = service
        } else {
            let isFirst = firstCount < Self.maximumCount
            // A place whose attempt is abandoned for another one counts as untried.
            if isFirst, let tried = places.first { untried.insert(ComparableName(tried.name)) }
            places.insert(service, at: isFirst ? 0 : places.count)
            firstCount += 1
        }
        if isReturn { untried.insert(ComparableName(service.name)) }
        let isFirst = places[0].name.isSameName(as: service.name)
        return Sighting(isReturn: isReturn, hasMoved: hasMoved && isFirst)
    }

    mutating func next() -> DiscoveredService? {
        guard let place = places.first else { return nil }
        untried.remove(ComparableName(place.name))
        return place
    }

    /// Moves on to another place after a failed attempt.
    ///
    /// - Returns: whether that place is untried, so that it can be tried at once.
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
