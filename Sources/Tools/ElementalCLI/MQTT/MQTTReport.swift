import Elemental
import ElementalFollowing
import MQTT
import MQTTBridge
import Support

/// Tells what a bridge does.
final class MQTTReport: Sendable {
    private struct State {
        /// Whether the broker was reached before.
        var wasConnected = false
        /// The reason that was told last, until the broker is back.
        var reason: String?
        var dropped: Set<Dropping> = []
    }

    /// An element and the direction in which its values are dropped: told once, since a flood would fill the screen.
    private struct Dropping: Hashable {
        let service: MQTTBridgeEvent.Service
        let id: Int8
        let direction: MQTTBridgeEvent.Direction
    }

    /// No more elements and services are remembered: names come from the network.
    private static let most = 10_000

    private let console: Console
    private let broker: MQTTAddress
    private let options: MQTTBridgeOptions
    private let prints: Bool
    private let nothingSet: NothingSetReport
    private let state = Locked(State())

    init(_ console: Console, broker: MQTTAddress, _ options: MQTTBridgeOptions, prints: Bool) {
        self.console = console
        nothingSet = NothingSetReport(console)
        self.broker = broker
        self.options = options
        self.prints = prints
    }

    /// Notes what happens on the bridge. It does not wait.
    func note(_ event: MQTTBridgeEvent) {
        switch event {
        case .brokerConnected: noteConnected()
        case .brokerAway(let error, let delay): noteAway(error, delay)
        case .brokerRefuses(let reason): console.offer(BrokerEvent(broker: broker, change: .refuses(reason)))
        case .sharedID(let id): console.offer(BrokerEvent(broker: broker, change: .sharedID(id)))
        case .toBroker(let service, let element, let value):
            if prints { offer(.value(element, value, .toBroker), service) }
        case .toDevice(let service, let element, let value):
            if prints { offer(.value(element, value, .toDevice), service) }
        case .notPassed(let service, let element, let direction, let reason):
            offer(.notPassed(element, direction, reason), service)
        case .dropped(let service, let element, let direction):
            let dropping = Dropping(service: service, id: element.id, direction: direction)
            let isNews = state.withLock { $0.dropped.count < Self.most && $0.dropped.insert(dropping).inserted }
            if isNews { offer(.dropped(element, direction), service) }
        case .notShown(let service, let reason): offer(.notShown(reason), service)
        }
    }

    private func offer(_ event: MQTTValueEvent, _ service: MQTTBridgeEvent.Service) {
        console.offer(OfService(ServiceKey(service: service.service, name: service.name), event))
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
        if isNews { console.offer(BrokerEvent(broker: broker, change: .away(error, retryIn: delay))) }
    }

    /// Says what to do where a service lets the bridge set nothing, though it should.
    func note(_ event: FollowerEvent, _ followed: FollowedServices) {
        if options.setsElements { nothingSet.note(event, followed) }
    }
}

/// The state of the connection to a broker has changed.
struct BrokerEvent: ConsoleEvent {
    enum Change: Sendable {
        case connected, connectedAgain
        case refuses(String)
        case sharedID(String)
        case away(MQTTError, retryIn: Duration)
    }

    let broker: MQTTAddress
    let change: Change

    var isResult: Bool { false }

    var lines: [String] {
        switch change {
        case .connected: ["connected to \(broker)"]
        case .connectedAgain: ["connected to \(broker) again"]
        case .away(let error, _): ["\(broker) is away: \(error.description); trying again"]
        case .refuses(let reason): ["\(broker): \(reason)"]
        case .sharedID(let id):
            ["another bridge to \(broker) has the id '\(id)' too: give one of them another with --id"]
        }
    }

    var json: JSONText {
        switch change {
        case .connected, .connectedAgain:
            .event("broker", [("broker", .string("\(broker)")), ("state", .string("connected"))])
        case .refuses(let reason):
            .event(
                "broker",
                [("broker", .string("\(broker)")), ("state", .string("refuses")), ("reason", .string(reason))])
        case .sharedID(let id):
            .event("broker", [("broker", .string("\(broker)")), ("state", .string("sharedID")), ("id", .string(id))])
        case .away(let error, let delay):
            .event(
                "broker",
                [
                    ("broker", .string("\(broker)")), ("state", .string("away")), ("code", .string("\(error.code)")),
                    ("reason", .string(error.description)), ("retryIn", .seconds(delay)),
                ])
        }
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

/// What happened to a value on a bridge, or to a service.
enum MQTTValueEvent: ConsoleEvent {
    case value(ElementDefinition, ElementValue, MQTTBridgeEvent.Direction)
    case notPassed(ElementDefinition, MQTTBridgeEvent.Direction, String)
    case dropped(ElementDefinition, MQTTBridgeEvent.Direction)
    case notShown(String)

    var isResult: Bool { if case .value = self { true } else { false } }

    var lines: [String] {
        switch self {
        case .value(let element, let value, .toBroker): ["\(element.line(value))  to the broker"]
        case .value(let element, let value, .toDevice): ["\(element.line(value))  from the broker"]
        case .notPassed(let element, .toBroker, let reason): ["'\(element.name)' does not reach the broker: \(reason)"]
        case .notPassed(let element, .toDevice, let reason): ["'\(element.name)' was not set: \(reason)"]
        case .dropped(let element, .toBroker):
            ["values of '\(element.name)' arrive faster than the broker takes them, and some are dropped"]
        case .dropped(let element, .toDevice):
            ["values for '\(element.name)' arrive faster than the service takes them, and some are dropped"]
        case .notShown(let reason): [reason]
        }
    }

    var json: JSONText {
        switch self {
        case .value(let element, let value, let direction):
            .event(direction.rawValue, [("element", .string(element.name)), ("value", value.json)])
        case .notPassed(let element, let direction, let reason):
            .event(
                "notPassed",
                [
                    ("element", .string(element.name)), ("direction", .string(direction.rawValue)),
                    ("reason", .string(reason)),
                ])
        case .dropped(let element, let direction):
            .event("dropped", [("element", .string(element.name)), ("direction", .string(direction.rawValue))])
        case .notShown(let reason): .event("notShown", [("reason", .string(reason))])
        }
    }
}
