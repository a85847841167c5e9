import Elemental
import ElementalFollowing
import MQTT
import MQTTBridge
import Support

/// Tells what a bridge to a broker does.
final class MQTTReport: Sendable {
    private struct State {
        /// Whether the broker was reached before.
        var wasConnected = false
        /// The reason that was told last, until the broker is back.
        var reason: String?
    }

    private let console: Console
    private let broker: MQTTAddress
    private let options: MQTTBridgeOptions
    private let values: BridgeReport
    private let state = Locked(State())

    init(_ console: Console, broker: MQTTAddress, _ options: MQTTBridgeOptions, prints: Bool) {
        self.console = console
        values = BridgeReport(console, .broker, prints: prints, setsElements: options.setsElements)
        self.broker = broker
        self.options = options
    }

    /// Notes what happens on the bridge. It does not wait.
    func note(_ event: MQTTBridgeEvent) {
        switch event {
        case .brokerConnected: noteConnected()
        case .brokerAway(let error, let delay): noteAway(error, delay)
        case .brokerRefuses(let error): console.offer(BrokerEvent(broker: broker, change: .refuses(error)))
        case .sharedID(let id): console.offer(BrokerEvent(broker: broker, change: .sharedID(id)))
        case .toBroker(let service, let element, let value):
            values.note(.passed(value), element, isInbound: false, of: service.key)
        case .toDevice(let service, let element, let value):
            values.note(.passed(value), element, isInbound: true, of: service.key)
        case .notPassed(let service, let element, let direction, let error):
            values.note(.notPassed(error), element, isInbound: direction == .toDevice, of: service.key)
        case .dropped(let service, let element, let direction):
            values.note(.dropped, element, isInbound: direction == .toDevice, of: service.key)
        case .notShown(let service, let error): console.offer(NotShownEvent(key: service.key, error: error))
        }
    }

    /// Says what to do where a service lets the bridge set nothing, though it should.
    func note(_ event: FollowerEvent, _ followed: FollowedServices) {
        values.note(event, followed.access) { followed.sessions.place(of: $0) }
    }

    private func noteConnected() {
        let isFirst = state.withLock { state in
            defer {
                state.wasConnected = true
                state.reason = nil
            }
            return !state.wasConnected
        }
        console.offer(BrokerEvent(broker: broker, change: isFirst ? .connected : .connectedAgain))
        if isFirst { console.offer(MQTTBridgingEvent(broker: broker, options: options)) }
    }

    /// A broker that stays away is told once for each reason.
    private func noteAway(_ error: MQTTError, _ delay: Duration) {
        let isNews = state.withLock { state in
            defer { state.reason = error.description }
            return state.reason != error.description
        }
        if isNews { console.offer(BrokerEvent(broker: broker, change: .away(error, delay: delay))) }
    }
}

/// The state of the connection to a broker has changed.
struct BrokerEvent: ConsoleEvent {
    enum Change: Sendable {
        case connected, connectedAgain
        case refuses(MQTTError)
        case sharedID(String)
        case away(MQTTError, delay: Duration)
    }

    let broker: MQTTAddress
    let change: Change

    var isResult: Bool { false }

    var lines: [String] {
        switch change {
        case .connected: ["connected to \(broker)"]
        case .connectedAgain: ["connected to \(broker) again"]
        case .away(let error, _): ["\(broker) is away: \(error.description); trying again"]
        case .refuses(let error): ["\(broker): \(error)"]
        case .sharedID(let id):
            ["another bridge to \(broker) has the id '\(id)' too: give one of them another with --id"]
        }
    }

    var json: JSONText {
        let (state, others): (String, JSONText.Members) =
            switch change {
            case .connected, .connectedAgain: ("connected", [])
            case .refuses(let error): ("refuses", JSONText.members(error))
            case .sharedID(let id): ("sharedID", [("id", .string(id))])
            case .away(let error, let delay): ("away", JSONText.members(error) + JSONText.delay(delay))
            }
        return .event("broker", [("broker", .string("\(broker)")), ("state", .string(state))] + others)
    }
}

/// A bridge begins, and this is who controls the services thereby.
struct MQTTBridgingEvent: ConsoleEvent {
    let broker: MQTTAddress
    let options: MQTTBridgeOptions

    var isResult: Bool { false }

    var lines: [String] {
        [
            options.setsElements
                ? "whoever may publish to \(options.base)/… at \(broker) controls the services"
                : "\(broker) is told what the services say and sets nothing; --control would let it"
        ]
    }

    var json: JSONText {
        .event(
            "bridging",
            [
                ("broker", .string("\(broker)")), ("id", .string(options.id)), ("base", .string(options.base)),
                ("discovery", .string(options.discovery.rawValue)), ("control", .bool(options.setsElements)),
            ])
    }
}

/// A service, or one of its elements, is not shown as the options ask.
struct NotShownEvent: ConsoleEvent {
    let key: ServiceKey
    let error: any Error

    var isResult: Bool { false }
    var lines: [String] { ["\(key): \(error)"] }

    var json: JSONText {
        // A mistake in the options is not one of the command line here.
        let members =
            error is MQTTBridgeError ? JSONText.members("invalidOptions", because: "\(error)") : JSONText.members(error)
        return .event("notShown", JSONText.members(key) + members)
    }
}

extension MQTTBridgeEvent.Service {
    fileprivate var key: ServiceKey { ServiceKey(service: service, name: name) }
}
