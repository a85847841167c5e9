import Support

/// The results of a search for a service so far, and the error if it was not found.
package struct ServiceFindings: Sendable {
    /// Limits memory, because anyone can publish any number of names.
    private static let maximumOtherCount = 4096

    private let service: String?
    private let name: String?
    private let timeout: Duration

    private var entries: [ComparableName: DiscoveredService] = [:]
    package var found: [DiscoveredService] { entries.sorted { $0.key < $1.key }.map(\.value) }
    /// The names of services of any type; `nil` if those are not searched for.
    private var otherServices: Set<String>?
    private var unresolved: (name: String, error: ElementalError)?
    package private(set) var failure: ElementalError?

    /// - Parameters:
    ///   - service: `nil` for any element service.
    ///   - name: `nil` for any instance.
    ///   - timeout: for the error's message.
    ///   - searchesOthers: whether ``recordOther(_:)`` will be called.
    package init(service: String?, name: String?, timeout: Duration, searchesOthers: Bool = false) {
        if searchesOthers { otherServices = [] }
        self.service = service
        self.name = name
        self.timeout = timeout
    }

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

    package mutating func recordOther(_ event: ElementalBrowser.Event) {
        guard case .found(let service) = event, otherServices?.count ?? 0 < Self.maximumOtherCount else { return }
        otherServices?.insert(service.service)
    }

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
        let named = name.map { " named '\($0)'" } ?? ""
        return ElementalError(.serviceNotFound, "no \(what)\(named) was found within \(timeout)\(hint)")
    }

    private var hint: String {
        if let name, !found.isEmpty { return Self.suggestion(name, found.map(\.name)) }
        guard let service, let otherServices else { return "" }
        return otherServices.isEmpty
            ? "; no other element service was found either" : Self.suggestion(service, otherServices.sorted())
    }

    private static func suggestion(_ name: String, _ names: [String]) -> String {
        let near = NearNames.closest(to: name, among: names)
        if !near.isEmpty { return "; did you mean \(quotedList(near))?" }
        return names.isEmpty ? "" : "; there are: \(quotedList(names, "and"))"
    }
}
