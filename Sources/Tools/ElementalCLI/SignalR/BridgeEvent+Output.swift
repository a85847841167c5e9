import Elemental
import SignalR
import SignalRBridge

extension BridgeEvent {
    /// Whether it is a value that passed.
    var isResult: Bool {
        switch self {
        case .toHub, .toDevice: true
        case .failed, .dropped, .hubAway, .hubReturned: false
        }
    }

    /// In words for a person, a line each.
    func lines(hub url: String) -> [String] {
        switch self {
        case .toHub(let element, let value): ["\(element.line(value))  to the hub"]
        case .toDevice(let element, let value): ["\(element.line(value))  from the hub"]
        case .failed(let element, .toHub, let error): ["'\(element.name)' does not reach the hub: \(error)"]
        case .failed(let element, .toDevice, let error):
            ["the hub's '\(element.name)' does not reach the service: \(error)"]
        case .dropped(let element, let direction):
            [
                "values of '\(element.name)' come faster than they may pass \(Self.words(direction)); the newest are "
                    + "dropped. A higher --rate, or an element marked latest, would help"
            ]
        case .hubAway(let error): HubEvent.willReconnect(url: url, error).lines
        case .hubReturned: HubEvent.didReconnect(url: url).lines
        }
    }

    /// As an object of JSON.
    func json(hub url: String) -> JSONText {
        switch self {
        case .toHub(let element, let value): Self.object("toHub", element, [("value", value.json)])
        case .toDevice(let element, let value): Self.object("toDevice", element, [("value", value.json)])
        case .failed(let element, let direction, let error):
            Self.object(
                "notPassed", element,
                [("direction", .string("\(direction)")), ("reason", .string("\(error)"))])
        case .dropped(let element, let direction):
            Self.object("dropped", element, [("direction", .string("\(direction)"))])
        case .hubAway(let error): HubEvent.willReconnect(url: url, error).json
        case .hubReturned: HubEvent.didReconnect(url: url).json
        }
    }

    private static func object(
        _ event: String, _ element: ElementDefinition, _ members: [(key: String, value: JSONText)]
    ) -> JSONText {
        .object([("event", .string(event)), ("element", .string(element.name))] + members)
    }

    private static func words(_ direction: Direction) -> String {
        switch direction {
        case .toHub: "to the hub"
        case .toDevice: "to the service"
        }
    }
}
