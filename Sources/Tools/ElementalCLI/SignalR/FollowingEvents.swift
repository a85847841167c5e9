import Bridging
import Support

/// How it stands with a service that is followed and not connected, or with the search for services.
struct FollowingEvent: ConsoleEvent {
    enum Content: Sendable {
        case away(String, Duration?)
        /// It does not admit this client, or cannot be used; with a code of one word.
        case refused(String, String)
        case gone
        case browsingFailed(String, Duration)
        /// So many services are left out.
        case tooMany(Int)
    }

    let content: Content

    init(_ content: Content) { self.content = content }

    var isResult: Bool { false }

    var lines: [String] {
        switch content {
        case .away(let reason, let delay): ["away: \(reason)" + (delay.map { "; next attempt in \($0)" } ?? "")]
        case .refused(_, let reason): [reason]
        case .gone: ["gone"]
        case .browsingFailed(let reason, let delay):
            ["browsing does not work at the moment: \(reason); next attempt in \(delay)"]
        case .tooMany(0): ["all services are followed again"]
        case .tooMany(let count): ["there are too many services: \(count) are left out"]
        }
    }

    var json: JSONText {
        switch content {
        case .away(let reason, let delay):
            .event("away", [("reason", .string(reason)), ("retryIn", delay.map { .seconds($0) } ?? .null)])
        case .refused(let code, let reason): .event("refused", [("code", .string(code)), ("reason", .string(reason))])
        case .gone: .event("gone", [])
        case .browsingFailed(let reason, let delay):
            .event("discoveryFailed", [("reason", .string(reason)), ("retryIn", .seconds(delay))])
        case .tooMany(let count): .event("tooMany", [("count", .integer(count))])
        }
    }
}

/// An event that says which service it is about, where there are several.
struct OfService<Event: ConsoleEvent>: ConsoleEvent {
    /// `nil` where there is only one.
    let key: ServiceKey?
    let event: Event

    init(_ key: ServiceKey?, _ event: Event) {
        self.key = key
        self.event = event
    }

    var isResult: Bool { event.isResult }

    var lines: [String] {
        guard let key else { return event.lines }
        return event.lines.map { "\(key): \($0)" }
    }

    var json: JSONText { named(event.json) }
    var jsonLines: [JSONText] { event.jsonLines.map(named) }

    private func named(_ json: JSONText) -> JSONText {
        guard let key, case .event(let name, let members) = json else { return json }
        return .event(
            name,
            [("service", .optional(key.service)), ("device", .string(key.name))]
                + members.filter { $0.key != "device" && $0.key != "service" })
    }
}
