import Elemental

/// What a search has seen so far: the service it looks for, or why there is none.
struct Findings {
    let service: String
    /// The instance's name, if one was given.
    let name: String?
    let timeout: Duration

    private var found: [String: DiscoveredService] = [:]
    private var otherServices: Set<String> = []
    /// An instance that is published but could not be resolved.
    private var silent: String?

    init(service: String, name: String?, timeout: Duration) {
        self.service = service
        self.name = name
        self.timeout = timeout
    }

    var isEmpty: Bool { found.isEmpty }

    /// Records an event about services of the wanted name.
    ///
    /// - Returns: the service, if it is the wanted instance.
    /// - Throws: ``ElementalError`` if the search does not work.
    mutating func take(_ event: ElementalBrowser.Event) throws -> DiscoveredService? {
        switch event {
        case .found(let service), .updated(let service):
            found[service.name] = service
            return service.name == name ? service : nil
        case .gone(_, let name): found[name] = nil
        case .unresolved(_, let name, _): if self.name == nil || self.name == name { silent = name }
        case .failed(let error, _): throw error
        }
        return nil
    }

    /// Records an event about any service, for the suggestions.
    mutating func takeOther(_ event: ElementalBrowser.Event) {
        if case .found(let service) = event { otherServices.insert(service.service) }
    }

    /// The only service found, or `nil` if there is none.
    ///
    /// - Throws: ``CommandFailure`` if there are several.
    func only() throws -> DiscoveredService? {
        guard found.count > 1 else { return found.values.first }
        let names = found.keys.sorted()
        throw CommandFailure(
            "ambiguous",
            "there are \(names.count) services '\(service)': \(quotedList(names, "and")); choose one, as in "
                + "'\(service)/\(names[0])'")
    }

    /// Why the service was not found, with suggestions.
    var failure: CommandFailure {
        if let silent {
            return CommandFailure(
                "serviceNotFound",
                "'\(service)/\(silent)' is listed but does not answer within \(timeout); its host is off or cut off")
        }
        if let name, !found.isEmpty {
            let hint = Self.hint(name, found.keys.sorted())
            return CommandFailure(
                "serviceNotFound", "no service '\(service)' named '\(name)' was found within \(timeout); \(hint)")
        }
        return CommandFailure(
            "serviceNotFound",
            "no service '\(service)' was found within \(timeout); \(Self.hint(service, otherServices.sorted()))")
    }

    private static func hint(_ name: String, _ names: [String]) -> String {
        let near = NearNames.closest(to: name, among: names)
        if !near.isEmpty { return "did you mean \(quotedList(near))?" }
        return names.isEmpty ? "no other element service was found either" : "there are: \(quotedList(names, "and"))"
    }
}
