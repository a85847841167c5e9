import Elemental
import MQTT
import SignalR
import SignalRBridge
import Testing

@testable import MQTTBridge
@testable import OSCBridge

/// What a program prints that logs each event of a bridge or its client: a short line without escape sequences.
struct BridgeEventDescriptionTests {
    private static let evil = "evil\u{1B}[2J\n"
    private static let shown = #"evil\u{1B}[2J\n"#
    private static let speed: ElementDefinition = Element<String>(1, "Speed")
    private static let long = ElementValue.string(String(repeating: "x", count: 10_000))
    private static let broker = MQTTError(.refused, evil)
    private static let failure = ElementalError(.listeningFailed, evil)
    private static let hub = SignalRError(.closedByServer, evil)
    private static let service = MQTTBridgeEvent.Service(service: "robot", name: evil)
    private static let place = OSCBridgeEvent.Place(service: "robot", name: "Rover", address: "/Rover/Speed")

    private static let events: [(event: any CustomStringConvertible & Sendable, text: String)] = [
        (MQTTEvent.connected, "connected"),
        (
            MQTTEvent.willReconnect(attempt: 2, delay: .seconds(2), error: broker),
            "not connected: \(shown); attempt 2 follows in 2.0 seconds"
        ),
        (MQTTEvent.subscriptionsRefused(["a/#", evil]), "subscriptions refused: a/#, \(shown)"),
        (MQTTEvent.ended(nil), "ended"), (MQTTEvent.ended(broker), "ended: \(shown)"),
        (ConnectionEvent.opened, "opened"), (ConnectionEvent.failedToOpen(hub), "not opened: \(shown)"),
        (ConnectionEvent.willReconnect(nil), "connection lost"),
        (ConnectionEvent.didReconnect, "connected again"), (ConnectionEvent.closed(hub), "closed: \(shown)"),
        (MQTTBridgeEvent.brokerConnected, "the broker is connected"),
        (
            MQTTBridgeEvent.brokerAway(broker, retryIn: .seconds(2)),
            "the broker is away: \(shown); next attempt in 2.0 seconds"
        ),
        (MQTTBridgeEvent.brokerRefuses(broker), "the broker refuses: \(shown)"),
        (MQTTBridgeEvent.sharedID("pi"), "another bridge has the id 'pi'"),
        (MQTTBridgeEvent.toBroker(service, speed, .string("1")), "robot/\(shown): Speed=1 to the broker"),
        (MQTTBridgeEvent.toDevice(service, speed, .string(evil)), "robot/\(shown): Speed=\(shown) from the broker"),
        (
            MQTTBridgeEvent.notPassed(service, speed, .toDevice, broker),
            "robot/\(shown): Speed not passed from the broker: \(shown)"
        ),
        (MQTTBridgeEvent.dropped(service, speed, .toBroker), "robot/\(shown): Speed dropped to the broker"),
        (MQTTBridgeEvent.notShown(service, broker), "robot/\(shown) is not shown: \(shown)"),
        (
            OSCBridgeEvent.listening(port: 8000, queryPort: 8001),
            "listening for OSC on port 8000, for OSCQuery on port 8001"
        ),
        (
            OSCBridgeEvent.failedToListen(failure, retryIn: .seconds(2)),
            "not listening: \(shown); next attempt in 2.0 seconds"
        ),
        (OSCBridgeEvent.announced(name: "OSC"), "announced as 'OSC'"),
        (OSCBridgeEvent.notAnnounced(failure), "not announced: \(shown)"),
        (OSCBridgeEvent.surface("10.0.0.1:7"), "10.0.0.1:7 sends OSC"),
        (OSCBridgeEvent.invalid(surface: "10.0.0.1:7", reason: evil), "10.0.0.1:7 sent what is no OSC: \(shown)"),
        (
            OSCBridgeEvent.unknownAddress(surface: "10.0.0.1:7", "/" + evil),
            "10.0.0.1:7: there is no element at /\(shown)"
        ),
        (OSCBridgeEvent.shown(service: nil, name: evil, prefix: "/x/"), "\(shown) is at /x/"),
        (OSCBridgeEvent.toSurfaces(place, speed, .string(evil)), "Speed=\(shown) to the surfaces, at /Rover/Speed"),
        (OSCBridgeEvent.toDevice(place, speed, .string("1")), "Speed=1 from a surface, at /Rover/Speed"),
        (
            OSCBridgeEvent.notPassed(place, speed, .toSurfaces, failure),
            "/Rover/Speed not passed to the surfaces: \(shown)"
        ),
        (OSCBridgeEvent.dropped(place, speed, .toDevice), "/Rover/Speed dropped from a surface"),
        (OSCBridgeEvent.overloaded(reason: "too much"), "too much"),
        (BridgeEvent.toHub(speed, .string("1")), "Speed=1 to the hub"),
        (BridgeEvent.toDevice(speed, .string(evil)), "Speed=\(shown) from the hub"),
        (BridgeEvent.failed(speed, .toHub, hub), "Speed not passed to the hub: \(shown)"),
        (BridgeEvent.dropped(speed, .toDevice), "Speed dropped from the hub"),
        (BridgeEvent.hubAway(nil), "the hub is away"), (BridgeEvent.hubReturned, "the hub is connected again"),
    ]

    @Test
    func eventsAreLinesWithoutEscapeSequences() {
        for (event, text) in Self.events { #expect(event.description == text) }
    }

    @Test(
        arguments: [
            MQTTBridgeEvent.toBroker(service, speed, long), OSCBridgeEvent.toDevice(place, speed, long),
            BridgeEvent.toHub(speed, long),
        ] as [any CustomStringConvertible & Sendable])
    func longValuesAreCut(_ event: any CustomStringConvertible & Sendable) {
        #expect(event.description.contains("(10000 bytes)") && event.description.count < 200)
    }
}
