import Elemental
import ElementalFollowing
import MQTT
import MQTTBridge
import Support

/// Reports the events of an MQTT bridge, and the values that it passes on.
struct MQTTReport: Sendable {
    private struct State {
        var wasConnected = false
        /// The reason that was reported last, until the broker is back.
        var reason: String?
    }

    let broker: MQTTAddress
    let options: MQTTBridgeOptions
    let values: BridgeReport
    private let state = Locked(State())

    func note(_ event: MQTTBridgeEvent) {
        switch event {
        case .brokerConnected:
            let isAgain = state.withLock { state in
                defer { state = State(wasConnected: true) }
                return state.wasConnected
            }
            values.console.offer(.broker(broker, event, isAgain: isAgain))
            if !isAgain { values.console.offer(.bridging(broker, options)) }
        case .brokerAway(let error, _):
            // A broker that stays away is reported once for each reason.
            let earlier = state.withLock { state in
                defer { state.reason = error.description }
                return state.reason
            }
            if earlier != error.description { values.console.offer(.broker(broker, event)) }
        case .brokerRefuses, .sharedID: values.console.offer(.broker(broker, event))
        case .value(let value): values.note(value)
        case .notShown(let key, let error): values.console.offer(.notShown(key, error))
        }
    }
}

extension ConsoleEvent where Self == Notice {
    static func broker(_ broker: MQTTAddress, _ event: MQTTBridgeEvent, isAgain: Bool = false) -> Notice {
        let (state, members, line): (String, JSONText.Members, String) =
            switch event {
            case .brokerAway(let error, let delay):
                (
                    "away", JSONText.members(error) + JSONText.delay(delay),
                    "\(broker) is not connected: \(error.description); retrying"
                )
            case .brokerRefuses(let error): ("refuses", JSONText.members(error), "\(broker): \(error)")
            case .sharedID(let id):
                (
                    "sharedID", [("id", .string(id))],
                    "another bridge to \(broker) has the same id '\(id)': change one of them with --id"
                )
            default: ("connected", [], "connected to \(broker)" + (isAgain ? " again" : ""))
            }
        return Notice("broker", [("broker", .string("\(broker)")), ("state", .string(state))] + members, line)
    }

    static func bridging(_ broker: MQTTAddress, _ options: MQTTBridgeOptions) -> Notice {
        Notice(
            "bridging",
            [
                ("broker", .string("\(broker)")), ("id", .string(options.id)), ("base", .string(options.base)),
                ("discovery", .string(options.discovery.rawValue)), ("control", .bool(options.setsElements)),
            ],
            options.setsElements
                ? "every client that may publish to \(options.base)/… at \(broker) controls the services"
                : "\(broker) receives values and cannot set any; to allow this, give --control")
    }

    /// A service, or one of its elements, is not shown as the options request.
    static func notShown(_ key: ServiceKey, _ error: any Error) -> Notice {
        // Here a mistake in the options is not a mistake on the command line.
        let members =
            error is MQTTBridgeError ? JSONText.members("invalidOptions", because: "\(error)") : JSONText.members(error)
        return Notice("notShown", JSONText.members(key) + members, "\(key): \(error)")
    }
}
