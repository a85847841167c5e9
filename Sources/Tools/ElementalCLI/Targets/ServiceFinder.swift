import Elemental
import Logging
import Support

/// Finds the one service that a target names.
struct ServiceFinder: Sendable {
    /// How long to wait for further services after the first, before it counts as the only one.
    private static let settlingTime: Duration = .milliseconds(300)

    let service: String
    let name: String?
    let timeout: Duration
    let logger: Logger

    private enum Input: Sendable {
        case event(ElementalBrowser.Event)
        /// A service of another name, for the suggestions.
        case other(ElementalBrowser.Event)
        case settled
        case timeUp
    }

    /// Searches until the service is found, several match, or the time is over.
    ///
    /// - Throws: ``CommandFailure`` if none or several match; ``ElementalError`` if the search does not work.
    func find() async throws -> DiscoveredService {
        let (inputs, input) = AsyncStream.makeStream(of: Input.self)
        let events = try ElementalBrowser(service, logger: logger).events()
        let others = try ElementalBrowser(logger: logger).events()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await event in events { input.yield(.event(event)) } }
            group.addTask { for await event in others { input.yield(.other(event)) } }
            group.addTask { await Self.tell(.timeUp, after: timeout, input) }
            defer { group.cancelAll() }
            var findings = ServiceFindings(service: service, name: name, timeout: timeout, searchesOthers: true)
            for await next in inputs {
                if case .timeUp = next { break }
                if case .settled = next, let service = try only(of: findings) { return service }
                if case .other(let event) = next { findings.recordOther(event) }
                guard case .event(let event) = next else { continue }
                let wasEmpty = findings.found.isEmpty
                let service = findings.record(event)
                if let failure = findings.failure { throw failure }
                if let service, name != nil { return service }
                if wasEmpty, !findings.found.isEmpty, name == nil {
                    group.addTask { await Self.tell(.settled, after: Self.settlingTime, input) }
                }
            }
            try Task.checkCancellation()
            throw findings.error
        }
    }

    /// The only service found, or `nil` if there is none.
    ///
    /// - Throws: ``CommandFailure`` if there are several.
    private func only(of findings: ServiceFindings) throws -> DiscoveredService? {
        guard findings.found.count > 1 else { return findings.found.first }
        let names = findings.found.map(\.name)
        throw CommandFailure(
            "ambiguous",
            "there are \(names.count) services '\(service)': \(quotedList(names, "and")); choose one, as in "
                + "'\(service)/\(names[0])'")
    }

    private static func tell(_ what: Input, after time: Duration, _ input: AsyncStream<Input>.Continuation) async {
        await Delay.wait(time)
        if !Task.isCancelled { input.yield(what) }
    }
}
