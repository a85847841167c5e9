import Elemental
import MQTT
import SignalR
import SignalRBridge
import Testing

@testable import ElementalFollowing
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
    private static let key = ServiceKey(service: "robot", name: evil)

    private static func value(
        _ outcome: BridgedValue.Outcome, _ peer: BridgedValue.Peer, isForService: Bool = false
    ) -> BridgedValue {
        BridgedValue(key, speed, outcome, peer, isForService: isForService)
    }

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
            "the broker is not connected: \(shown); retrying in 2.0 seconds"
        ),
        (MQTTBridgeEvent.brokerRefuses(broker), "the broker refuses: \(shown)"),
        (MQTTBridgeEvent.sharedID("pi"), "another bridge has the id 'pi'; give each its own"),
        (MQTTBridgeEvent.value(value(.passed(.string("1")), .broker)), "robot/\(shown): Speed=1 to the broker"),
        (
            MQTTBridgeEvent.value(value(.notPassed(broker), .broker, isForService: true)),
            "robot/\(shown): Speed not passed from the broker: \(shown)"
        ),
        (MQTTBridgeEvent.notShown(key, broker), "robot/\(shown) is not shown: \(shown)"),
        (
            OSCBridgeEvent.listening(port: 8000, queryPort: 8001),
            "listening for OSC on port 8000, for OSCQuery on port 8001"
        ),
        (
            OSCBridgeEvent.failedToListen(failure, retryIn: .seconds(2)),
            "not listening for OSC: \(shown); retrying in 2.0 seconds"
        ),
        (OSCBridgeEvent.announced(name: "OSC"), "announced as 'OSC'"),
        (OSCBridgeEvent.notAnnounced(failure), "not announced: \(shown); retrying"),
        (OSCBridgeEvent.surface("10.0.0.1:7"), "10.0.0.1:7 sends OSC"),
        (
            OSCBridgeEvent.invalid(surface: "10.0.0.1:7", reason: evil),
            "10.0.0.1:7 sent an invalid OSC packet: \(shown)"
        ),
        (
            OSCBridgeEvent.unknownAddress(surface: "10.0.0.1:7", "/" + evil),
            "10.0.0.1:7: there is no element at /\(shown)"
        ),
        (
            OSCBridgeEvent.shown(ServiceKey(service: nil, name: evil), prefix: "/x/"),
            "\(shown): its elements are at /x/…"
        ),
        (
            OSCBridgeEvent.value(value(.passed(.string(evil)), .surfaces, isForService: true)),
            "robot/\(shown): Speed=\(shown) from the surfaces"
        ),
        (OSCBridgeEvent.overloaded(reason: "too much"), "too much"),
        (BridgeEvent.value(value(.notPassed(hub), .hub)), "robot/\(shown): Speed not passed to the hub: \(shown)"),
        (
            BridgeEvent.value(value(.dropped, .hub, isForService: true)),
            "robot/\(shown): Speed dropped from the hub"
        ),
        (BridgeEvent.hubAway(nil), "the hub is not connected"), (BridgeEvent.hubReturned, "the hub is connected again"),
    ]

    @Test
    func eventsAreLinesWithoutEscapeSequences() {
        for (event, text) in Self.events { #expect(event.description == text) }
    }

    @Test
    func longValuesAreCut() {
        let text = Self.value(.passed(Self.long), .broker).description
        #expect(text.contains("(10000 bytes)") && text.count < 200)
    }
}
