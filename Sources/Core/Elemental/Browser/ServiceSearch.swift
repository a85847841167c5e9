/// The search for one service among a browser's events.
struct ServiceSearch: Sendable {
    let service: String?
    let name: String?
    let timeout: Duration

    func run(_ events: AsyncStream<ElementalBrowser.Event>) async throws(ElementalError) -> DiscoveredService {
        let outcome = await withTaskGroup(of: Result<DiscoveredService, ElementalError>?.self) { group in
            let notes = Notes()
            group.addTask { await look(events, notes) }
            group.addTask {
                await Delay.wait(timeout)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            return .failure(await notes.failure(service: service, name: name, timeout: timeout))
        }
        return try outcome.get()
    }

    private func look(
        _ events: AsyncStream<ElementalBrowser.Event>, _ notes: Notes
    ) async -> Result<DiscoveredService, ElementalError> {
        for await event in events {
            switch event {
            case .found(let found), .updated(let found):
                if name == nil || found.name == name { return .success(found) }
                await notes.add(other: found.name)
            case .unresolved(_, let name, let error):
                if self.name == nil || name == self.name { await notes.set(unresolved: name, error) }
            case .failed(let error, _):
                await notes.set(failure: error)
            case .gone:
                break
            }
        }
        return .failure(ElementalError(.cancelled, "the search was cancelled"))
    }

    /// What was seen meanwhile, for the error.
    private actor Notes {
        private var others: Set<String> = []
        private var unresolved: (name: String, error: ElementalError)?
        private var failure: ElementalError?

        func add(other name: String) { others.insert(name) }
        func set(unresolved name: String, _ error: ElementalError) { unresolved = (name, error) }
        func set(failure error: ElementalError) { failure = error }

        func failure(service: String?, name: String?, timeout: Duration) -> ElementalError {
            if Task.isCancelled { return ElementalError(.cancelled, "the search was cancelled") }
            if let failure { return failure }
            if let unresolved {
                return ElementalError(
                    .serviceNotFound,
                    "'\(unresolved.name)' is listed but does not answer; its host is off or cut off (\(unresolved.error))"
                )
            }
            let what = service.map { "service '\($0)'" } ?? "element service"
            guard let name else {
                return ElementalError(.serviceNotFound, "no \(what) was found within \(timeout)")
            }
            let near = NearNames.closest(to: name, among: others)
            let hint =
                near.isEmpty
                ? (others.isEmpty ? "" : "; there are: " + others.sorted().map { "'\($0)'" }.joined(separator: ", "))
                : "; did you mean " + near.map { "'\($0)'" }.joined(separator: " or ") + "?"
            return ElementalError(.serviceNotFound, "no \(what) named '\(name)' was found within \(timeout)\(hint)")
        }
    }
}
