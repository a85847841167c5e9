import Elemental
import Support

/// Finds the one service that a target names.
struct ServiceFinder: Sendable {
    /// How long to wait for further services after the first, before it counts as the only one.
    private static let settlingTime: Duration = .milliseconds(300)

    let service: String
    let name: String?
    let output: OutputOptions

    private struct Search {
        var findings: ServiceFindings
        var match: DiscoveredService?
        var isSettled = false
        var isTimeUp = false
    }

    /// Searches until the service is found, several match, or the time is over.
    func find() async throws -> DiscoveredService {
        let findings = ServiceFindings(service: service, name: name, timeout: output.limit, searchesOthers: true)
        let search = Locked(Search(findings: findings))
        // One change that is not looked at yet stands for all: events that come faster than that are not queued.
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let note = { @Sendable (_ what: (inout Search) -> Void) in
            search.withLock { what(&$0) }
            change.yield()
        }
        let events = try ElementalBrowser(service, logger: output.logger).events()
        let others = try ElementalBrowser(logger: output.logger).events()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in events { note { $0.match = $0.findings.record(event) ?? $0.match } }
            }
            group.addTask {
                for await event in others { search.withLock { $0.findings.recordOther(event) } }
            }
            group.addTask {
                await Delay.wait(output.limit)
                note { $0.isTimeUp = true }
            }
            defer { group.cancelAll() }
            var isSettling = false
            for await _ in changes {
                let now = search.withLock { search in
                    defer { search.isSettled = false }
                    return search
                }
                if let failure = now.findings.failure { throw failure }
                if let match = now.match, name != nil { return match }
                if now.isTimeUp { break }
                if now.isSettled {
                    isSettling = false
                    if let service = try only(of: now.findings) { return service }
                }
                guard name == nil, !isSettling, !now.findings.found.isEmpty else { continue }
                isSettling = true
                group.addTask {
                    await Delay.wait(Self.settlingTime)
                    note { $0.isSettled = true }
                }
            }
            try Task.checkCancellation()
            throw search.withLock { $0.findings.error }
        }
    }

    /// The only service found, or `nil` if there is none.
    private func only(of findings: ServiceFindings) throws -> DiscoveredService? {
        guard findings.found.count > 1 else { return findings.found.first }
        let names = findings.found.map(\.name)
        throw CommandFailure(
            "ambiguous",
            "there are \(names.count) services '\(service)': \(quotedList(names, "and")); choose one, as in "
                + "'\(service)/\(names[0])'")
    }
}
