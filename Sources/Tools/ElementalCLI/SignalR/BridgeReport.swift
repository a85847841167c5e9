import Elemental
import ElementalFollowing
import SignalR
import SignalRBridge
import Support

/// What happens between a service and a hub that a bridge joins.
struct BridgeReport: ConsoleEvent {
    let event: BridgeEvent
    /// The hub's address.
    let url: String

    var isResult: Bool {
        switch event {
        case .toHub, .toDevice: true
        case .failed, .dropped, .hubAway, .hubReturned: false
        }
    }

    var lines: [String] {
        switch event {
        case .toHub(let element, let value): ["\(element.line(value))  to the hub"]
        case .toDevice(let element, let value): ["\(element.line(value))  from the hub"]
        case .failed(let element, .toHub, let error): ["'\(element.name)' does not reach the hub: \(error)"]
        case .failed(let element, .toDevice, let error):
            ["the hub's '\(element.name)' does not reach the service: \(error)"]
        case .dropped(let element, let direction):
            [
                "values of '\(element.name)' arrive faster than the bridge passes them \(Self.words(direction)), and the "
                    + "newest are dropped; a higher --rate, or marking the element latest, would help"
            ]
        case .hubAway(let error): HubConnectionEvent(url: url, change: .willReconnect(error)).lines
        case .hubReturned: HubConnectionEvent(url: url, change: .didReconnect).lines
        }
    }

    var json: JSONText {
        switch event {
        case .toHub(let element, let value):
            .event("toHub", [("element", .string(element.name)), ("value", value.json)])
        case .toDevice(let element, let value):
            .event("toDevice", [("element", .string(element.name)), ("value", value.json)])
        case .failed(let element, let direction, let error):
            .event(
                "notPassed",
                [
                    ("element", .string(element.name)), ("direction", .string("\(direction)")),
                    ("reason", .string("\(error)")),
                ])
        case .dropped(let element, let direction):
            .event("dropped", [("element", .string(element.name)), ("direction", .string("\(direction)"))])
        case .hubAway(let error): HubConnectionEvent(url: url, change: .willReconnect(error)).json
        case .hubReturned: HubConnectionEvent(url: url, change: .didReconnect).json
        }
    }

    private static func words(_ direction: BridgeEvent.Direction) -> String {
        switch direction {
        case .toHub: "to the hub"
        case .toDevice: "to the service"
        }
    }
}
