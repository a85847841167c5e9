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
