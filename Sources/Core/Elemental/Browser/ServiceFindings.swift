import Support

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

/// What a search for a service has seen so far, and why the service was not found.
package struct ServiceFindings: Sendable {
    /// How many names of other services are kept for suggestions: anybody can publish any number.
    private static let maximumOtherCount = 4096

    private let service: String?
    private let name: String?
    private let timeout: Duration

    private var entries: [ComparableName: DiscoveredService] = [:]
    /// The services of the wanted type, by their instances' names.
    package var found: [DiscoveredService] { entries.sorted { $0.key < $1.key }.map(\.value) }
    /// The names of services of any type; `nil` if those are not searched for.
    private var otherServices: Set<String>?
    private var unresolved: (name: String, error: ElementalError)?
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

/// Suggests names that a misspelled one may have been meant to be.
package enum NearNames {
    /// The longest name that is compared, in bytes: names of elements and services have at most 255, and a far longer
    /// one was not meant to be one.
    private static let maximumByteCount = 1024

    /// The names nearest to `name`, best first: those that begin with it or contain it, and those that are a few typing
    /// errors away. Case is ignored. An empty name matches nothing, nor does one without a character in common.
    package static func closest(to name: String, among names: some Sequence<String>, limit: Int = 3) -> [String] {
        guard !name.isEmpty, name.utf8.count <= maximumByteCount else { return [] }
        let folded = name.lowercased()
        let wanted = Array(folded)
        let allowed = min(wanted.count < 4 ? 1 : max(2, wanted.count / 3), wanted.count - 1)
        let ranked = names.compactMap { candidate -> (rank: Int, name: String)? in
            guard candidate.utf8.count <= maximumByteCount else { return nil }
            let foldedCandidate = candidate.lowercased()
            let other = Array(foldedCandidate)
            if other.starts(with: wanted) { return (0, candidate) }
            // The difference in length is a lower bound of the edit distance.
            if abs(wanted.count - other.count) <= allowed {
                let distance = editDistance(wanted, other)
                if distance <= allowed { return (distance, candidate) }
            }
            return foldedCandidate.contains(folded) ? (wanted.count, candidate) : nil
        }
        return ranked.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }.prefix(limit).map(\.name)
    }

    /// The edit distance: how many characters must be inserted, deleted, replaced or swapped with their neighbour.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, beforeLast[j - 1] + 1) }
                row.append(least)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
