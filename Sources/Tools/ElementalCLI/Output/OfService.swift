import ElementalFollowing
import Support

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

    var lines: [String] { styledLines.map { $0.map(\.text).joined() } }

    var styledLines: [[Styled]] {
        guard let key else { return event.styledLines }
        return event.styledLines.map { [Styled("\(key): ")] + $0 }
    }

    var json: JSONText { named(event.json) }
    var jsonLines: [JSONText] { event.jsonLines.map(named) }

    private func named(_ json: JSONText) -> JSONText {
        guard let key, case .event(let name, let members) = json else { return json }
        return .event(name, JSONText.members(key) + members.filter { $0.key != "service" && $0.key != "instance" })
    }
}
