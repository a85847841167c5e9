internal import Elemental
internal import Support

// Which services exist, and which of them are followed.
extension Follower {
    /// How long it takes to find the existing services again when browsing starts again.
    private static let settlingTime = Duration.seconds(5)

    /// Follows the services of one name, or all (`nil`), until the task is cancelled.
    func browse(_ service: String?, name: String?, _ number: Int) async {
        let browser = ElementalBrowser(service, logger: options.connect.logger)
        var trusted = name == nil ? nil : TrustedServices(options.connect.security)
        var instance: NamedInstance?
        // The services known before browsing began and not found again yet.
        let missing = Locked(Set<ServiceKey>())
        await withDiscardingTaskGroup { group in
            // `run()` has checked the name.
            try? await Browsing.follow(browser, works: { [weak self] in self?.tell(.browsingWorks) }) { event in
                switch event {
                case .began:
                    instance = name.map { NamedInstance(name: $0) }
                    missing.withLock { $0 = keys(of: number) }
                    group.addTask {
                        await Delay.wait(Self.settlingTime)
                        guard !Task.isCancelled else { return }
                        for key in missing.withLock({ $0 }) { self.lost(key, by: number) }
                    }
                case .service(let event):
                    if let service, let name {
                        // Each attempt to connect reports a store that cannot be read.
                        _ = try? await trusted?.update()
                        instance?.shortFingerprint = trusted?.pin(of: service, named: name)?.fingerprint.short
                    }
                    take(event, &instance, number, missing)
                case .failed(let error, let delay): tell(.browsingFailed(error, retryIn: delay))
                }
            }
            group.cancelAll()
        }
    }

    private func take(
        _ event: ElementalBrowser.Event, _ instance: inout NamedInstance?, _ number: Int,
        _ missing: Locked<Set<ServiceKey>>
    ) {
        switch event {
        case .found(let service), .updated(let service):
            guard instance?.take(service) ?? true else { return }
            let places = instance?.places ?? [service]
            let key = ServiceKey(service: service.service, name: instance?.listedName ?? service.name)
            missing.withLock { _ = $0.remove(key) }
            follow(key, places, number)
        case .gone(let service, let gone):
            let key = ServiceKey(service: service, name: instance?.name ?? gone)
            guard instance?.remove(gone) ?? true else { return }
            follow(key, instance?.places ?? [], number)
        // It was never found: only its name is known.
        case .failed, .unresolved: break
        }
    }

    private func follow(_ key: ServiceKey, _ places: [DiscoveredService], _ number: Int) {
        guard let first = places.first else { return lost(key, by: number) }
        found(key, .found(first), or: places.dropFirst().map { .found($0) }, by: number)
    }

    private func keys(of number: Int) -> Set<ServiceKey> {
        state.withLock { state in Set(state.entries.filter { $0.value.subjects.contains(number) }.keys) }
    }

    /// A subject lists a service, with alternatives for its place.
    func found(_ key: ServiceKey, _ place: ServicePlace, or others: [ServicePlace] = [], by number: Int) {
        let known: FollowedService? = state.withLock { state in
            if state.entries[key] == nil {
                guard state.entries.count < options.maximumServiceCount + Self.maximumExcessCount else { return nil }
                state.entries[key] = Entry(place: place)
            }
            state.entries[key]?.subjects.insert(number)
            state.entries[key]?.place = place
            state.entries[key]?.others = others
            if let session = state.entries[key]?.session { return session }
            start(key, &state)
            return nil
        }
        known?.update(place, or: others)
        tellExcess()
    }

    /// A subject no longer lists a service.
    private func lost(_ key: ServiceKey, by number: Int) {
        let session: FollowedService? = state.withLock { state in
            guard var entry = state.entries[key], entry.subjects.remove(number) != nil else { return nil }
            state.entries[key] = entry
            guard entry.subjects.isEmpty else { return nil }
            if entry.session == nil { state.entries[key] = nil }
            return entry.session
        }
        session?.withdraw()
        tellExcess()
    }

    /// Removes a session that has ended, because its service is gone or all sessions end.
    func ended(_ session: FollowedService) {
        state.withLock { state in
            guard state.entries[session.key]?.session === session else { return }
            state.count -= 1
            state.entries[session.key]?.session = nil
            if state.entries[session.key]?.subjects.isEmpty == true { state.entries[session.key] = nil }
            // The service may have returned in the meantime.
            let next =
                state.entries[session.key] != nil ? session.key : state.entries.first { $0.value.session == nil }?.key
            if let next { start(next, &state) }
        }
        tellExcess()
    }

    /// Starts to follow a service if there is room.
    private func start(_ key: ServiceKey, _ state: inout State) {
        guard state.count < options.maximumServiceCount, let starts = state.starts,
            let place = state.entries[key]?.place
        else { return }
        let session = FollowedService(key, place, options, memory, state.rooms) {
            [weak self, observers = state.observers] event in
            if case .state(_, let news) = event { self?.state.withLock { $0.entries[key]?.state = news } }
            for observer in observers { observer(event) }
        }
        session.update(place, or: state.entries[key]?.others ?? [])
        state.entries[key]?.session = session
        state.count += 1
        starts.yield(session)
    }

    private func tellExcess() {
        let news: Int? = state.withLock { state in
            let excess = max(state.entries.count - state.count, 0)
            guard excess != state.excess, state.starts != nil else { return nil }
            state.excess = excess
            return excess
        }
        if let news { tell(.tooMany(news)) }
    }
}

// A service may be paired by another program while it is not connected. A connected device detects that itself.
extension Follower {
    /// Polls the store of trusted services while a service is not connected, and retries after a change.
    ///
    /// - Parameter trusted: the store's content before the first attempt to connect.
    func watch(_ trusted: TrustedServices) async {
        var trusted = trusted
        while !Task.isCancelled {
            await Delay.wait(options.trustInterval)
            let sessions = state.withLock { $0.entries.values.compactMap(\.session) }
                .filter { $0.device?.isConnected != true }
            guard !sessions.isEmpty, !Task.isCancelled else { continue }
            guard (try? await trusted.update()) == true else { continue }
            for session in sessions { session.hurry() }
        }
    }
}

/// The places where a subject's single instance may be: services with its name, and services that claim to have the key
/// that is paired under that name. Zeroconf renames a service whose name is taken by another one. Anyone can publish
/// either, so that only the connection decides.
private struct NamedInstance {
    /// The maximum number of places under other names: further ones are ignored.
    private static let maximumCount = 8

    let name: String
    var shortFingerprint: String?
    private var found: [DiscoveredService] = []

    init(name: String) { self.name = name }

    /// The name as it is listed, or as the user wrote it.
    var listedName: String { found.first { $0.name.isSameName(as: name) }?.name ?? name }

    /// The places; services that claim to have the key come first.
    var places: [DiscoveredService] { found.filter(hasKey) + found.filter { !hasKey($0) } }

    /// - Returns: whether the service is one of the places, or was one.
    mutating func take(_ service: DiscoveredService) -> Bool {
        let index = found.firstIndex { $0.name.isSameName(as: service.name) }
        let isNamed = service.name.isSameName(as: name)
        guard isNamed || hasKey(service) else { return remove(service.name) }
        if let index {
            found[index] = service
        } else if isNamed || found.count < Self.maximumCount {
            found.append(service)
        } else {
            return false
        }
        return true
    }

    /// - Returns: whether it was one of the places.
    mutating func remove(_ name: String) -> Bool {
        let count = found.count
        found.removeAll { $0.name.isSameName(as: name) }
        return found.count < count
    }

    private func hasKey(_ service: DiscoveredService) -> Bool {
        shortFingerprint != nil && service.shortFingerprint == shortFingerprint
    }
}
