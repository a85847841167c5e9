import Support

/// The search for one service among a browser's events.
struct ServiceSearch: Sendable {
    let service: String?
    let name: String?
    let timeout: Duration

    func run(_ events: AsyncStream<ElementalBrowser.Event>) async throws(ElementalError) -> DiscoveredService {
        let findings = Locked(ServiceFindings(service: service, name: name, timeout: timeout))
        let found = await withTaskGroup(of: DiscoveredService?.self) { group in
            group.addTask {
                for await event in events {
                    if let service = findings.withLock({ $0.record(event) }) { return service }
                }
                return nil
            }
            group.addTask {
                await Delay.wait(timeout)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if let found { return found }
        if Task.isCancelled { throw ElementalError(.cancelled, "the search was cancelled") }
        throw findings.withLock { $0.error }
    }
}

/// What a search for a service has seen so far, and from that the reason why the service was not found.
package struct ServiceFindings: Sendable {
    /// How many names of other services are remembered for the suggestions: anybody can publish any number.
    private static let maximumOtherCount = 4096

    private let service: String?
    private let name: String?
    private let timeout: Duration

    private var entries: [ComparableName: DiscoveredService] = [:]
    /// The services of the wanted type, by their instances' names.
    package var found: [DiscoveredService] { entries.sorted { $0.key < $1.key }.map(\.value) }
    /// The names of services of any type, if those were searched for too.
    private var otherServices: Set<String>?
    /// An instance that is listed but could not be resolved.
    private var unresolved: (name: String, error: ElementalError)?
    /// Why browsing failed, if it did.
    package private(set) var failure: ElementalError?

    /// - Parameters:
    ///   - service: the service's name; `nil` for any element service.
    ///   - name: the instance's name; `nil` for any.
    ///   - timeout: how long the search lasts, for the error's message.
    ///   - searchesOthers: whether ``recordOther(_:)`` will be called.
    package init(service: String?, name: String?, timeout: Duration, searchesOthers: Bool = false) {
        if searchesOthers { otherServices = [] }
        self.service = service
        self.name = name
        self.timeout = timeout
    }

    /// Records an event about services of the wanted type.
    ///
    /// - Returns: a service with the wanted name; any service if no name is wanted.
    package mutating func record(_ event: ElementalBrowser.Event) -> DiscoveredService? {
        switch event {
        case .found(let service), .updated(let service):
            entries[ComparableName(service.name)] = service
            return isWanted(service.name) ? service : nil
        case .gone(_, let name): entries[ComparableName(name)] = nil
        case .unresolved(_, let name, let error):
            if isWanted(name) { unresolved = (name, error) }
        case .failed(let error, _): failure = error
        }
        return nil
    }

    private func isWanted(_ name: String) -> Bool { self.name.map(name.isSameName) ?? true }

    /// Records an event about services of any type, for the suggestions.
    package mutating func recordOther(_ event: ElementalBrowser.Event) {
        guard case .found(let service) = event, otherServices?.count ?? 0 < Self.maximumOtherCount else { return }
        otherServices?.insert(service.service)
    }

    /// Why the service was not found, with suggestions.
    package var error: ElementalError {
        if let failure { return failure }
        if let unresolved {
            let place = service.map { "\($0)/" } ?? ""
            return ElementalError(
                .serviceNotFound,
                "'\(place)\(unresolved.name)' is listed but does not answer within \(timeout); its host is off or cut off "
                    + "(\(unresolved.error))")
        }
        let what = service.map { "service '\($0)'" } ?? "element service"
        if let name, !found.isEmpty {
            return ElementalError(
                .serviceNotFound,
                "no \(what) named '\(name)' was found within \(timeout)\(Self.hint(name, found.map(\.name)))")
        }
        let named = name.map { " named '\($0)'" } ?? ""
        let hint =
            if let service, let otherServices {
                otherServices.isEmpty
                    ? "; no other element service was found either" : Self.hint(service, otherServices.sorted())
            } else { "" }
        return ElementalError(
            .serviceNotFound,
            "no \(what)\(named) was found within \(timeout)" + hint)
    }

    private static func hint(_ name: String, _ names: [String]) -> String {
        let near = NearNames.closest(to: name, among: names)
        if !near.isEmpty { return "; did you mean \(quotedList(near))?" }
        return names.isEmpty ? "" : "; there are: \(quotedList(names, "and"))"
    }
}

/// The names in single quotes, with `word` before the last one.
package func quotedList(_ names: [String], _ word: String = "or") -> String {
    let quoted = names.map { "'\($0)'" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
    return quoted.dropLast().joined(separator: ", ") + " \(word) " + last
}
