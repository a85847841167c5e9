import ElementalFollowing
import ElementalSecurity
import ElementalWire
import Foundation
import MQTT
import MQTTBridge
import OSCBridge
import SignalR
import Support
import TestSupport
import VirtualCommodore
import Zeroconf

@testable import Elemental
@testable import ElementalBench
@testable import ElementalCLI
@testable import ElementalRecording

/// An example of every event, in each of its forms.
enum EventExamples {
    static func all() async throws -> [any ConsoleEvent] {
        try connections() + services() + bridges() + hubs() + others() + (await recordings())
    }

    private static let key = ServiceKey(service: "robot", name: "Rover")
    private static let error = ElementalError(.timedOut, "too late")
    private static let delay = Duration.seconds(1)
    private static let fingerprint = Fingerprint(publicKey: [1, 2, 3])
    private static let speed: ElementDefinition = Element<Float>(1, "Speed", range: 0...1)
    private static let mode: ElementDefinition = Element<UInt8>(2, "Mode", choices: [1: "on"])
    private static let long = ElementValue.string(String(repeating: "x", count: 1025))
    private static let text: ElementDefinition = Element<String>(3, "Text")

    /// What clients print.
    private static func connections() throws -> [any ConsoleEvent] {
        let found = DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: "Rover", type: try .tcp("robot")), host: "pi.local.", port: 41847,
                txt: TXTRecord(["elemental": "1", "sec": "9"]), addresses: []))
        let trust = UserTrust(StateOptions())
        let attempt = ReconnectionAttempt(
            number: 2, elapsed: delay, reason: DisconnectReason(.closedByPeer, isExpected: false), lastError: error)
        func description(_ discovered: DiscoveredService?, _ value: ElementValue?) -> Notice {
            Notice.service(
                ServiceKey(service: discovered?.service, name: "Rover"), address: "pi:1", saysHello: true,
                discovered: discovered, fingerprint: nil, role: nil, udpIdentifier: 1,
                elements: [(speed, value), (mode, nil), (speed.withHistory(HistoryLimits(count: 1)), nil)])
        }
        let kept = ArrivedValue(
            speed,
            HistoryValue(
                value: .float(0.5), time: nil, isPast: true,
                position: HistoryPosition(life: HistoryLife(), number: 1, check: 2), serviceTime: nil))
        var counts = DeviceStatistics()
        counts.roundTripTime = delay
        return [
            Notice.browsing(.found(found), trust), Notice.browsing(.updated(found), trust),
            Notice.browsing(.gone(service: "robot", name: "Rover"), trust),
            Notice.browsing(.unresolved(service: "robot", name: "Rover", error), trust),
            Notice.browsing(.failed(error, retryIn: delay), trust),
            Notice.connected(key, address: "pi:1"), Notice.connected(key, address: "pi:1", isAgain: true),
            Notice.willReconnect(key, attempt, in: delay), Notice.disconnected(key, attempt.reason),
            description(found, .float(0.5)), description(nil, nil),
            ValueEvent(arrived: ArrivedValue(speed, .float(0.5)), key: ServiceKey(host: "pi", port: 1)),
            ValueEvent(arrived: ArrivedValue(mode, .uint8(1)), key: key), ValueEvent(arrived: kept, key: key),
            Notice.gap(key, speed, HistoryGap(count: 1, maximumCount: 1)),
            Notice.gap(key, speed, HistoryGap(count: nil, maximumCount: nil)),
            Notice.set(key, mode, .uint8(1)), Notice.set(key, text, long),
            Notice.progress(
                key, TransferProgress(element: text, direction: .incoming, byteCount: 1, totalByteCount: 2)),
            Notice.statistics(key, DeviceStatistics()), Notice.statistics(key, counts),
            Notice.ping(key, .microseconds(31)),
            Notice.paired(
                TrustedService(fingerprint: fingerprint, service: "robot", instance: "Rover", role: .control),
                wanted: .control),
            CommandFailure(error),
        ]
    }

    /// What services and gateways print.
    private static func services() throws -> [any ConsoleEvent] {
        let service = ElementalService("oven", displayName: "Kitchen", elements: [])
        let client = TrustedClient(fingerprint: fingerprint, name: "Ada", role: .control, services: .all)
        func pairing(_ kind: PairingSecret.Kind) -> Notice {
            Notice.pairingOpened(
                "robot", PairingSecret(generating: kind), for: delay, role: .control, command: "")
        }
        let peer = TrustedService(fingerprint: fingerprint, service: "robot", instance: "Rover", role: .control)
        return [
            Notice.listening("robot", port: 1, maximumDevices: 2, policy: .open),
            Notice.published("robot", name: "Rover", port: 1),
            Notice.retrying("robot", publishing: true, error, in: delay),
            Notice.retrying("robot", publishing: false, error, in: delay),
            Notice.trustUnavailable("robot", error), Notice.trustAvailable("robot"),
            Notice.historyUnavailable("robot", SecurityError(.diskFull, "no space is left")),
            Notice.historyAvailable("robot"), Notice.historyCleared("robot", "Speed", 4096),
            Notice.stopped("robot"), Notice.port(1, .lost(nil, retryIn: delay)), Notice.port(1, .restored),
            Notice.clientConnected("robot", client: "Ada", address: "pi:1", role: .control, fingerprint: fingerprint),
            Notice.clientConnected("robot", client: "Ada", address: "pi:1", role: .plain, fingerprint: nil),
            Notice.clientDisconnected("robot", client: "Ada", DisconnectReason(.closedByPeer, isExpected: true)),
            ClientValueEvent(arrived: ArrivedValue(speed, .float(1)), service: "robot", client: "Ada"),
            ClientValueEvent(arrived: ArrivedValue(mode, .uint8(1)), service: "robot", client: "Ada"),
            pairing(.code), pairing(.secret), Notice.pairingOpenedByAdmin("robot"),
            Notice.pairingClosed("robot", command: ""), Notice.pairingFailed("robot", client: "Ada", error),
            Notice.clientPaired("robot", client),
            Notice.alias("desk", "lamp/Desk lamp"), Notice.alias("desk", "lamp/Desk lamp", isRemoved: true),
            Notice.trusted(client), Notice.trusted(client, isRevoked: true),
            Notice.trusted(peer), Notice.trusted(peer, isRevoked: true),
            Notice.identity(fingerprint, directory: "/"),
            Notice.command("Speed", "read", problem: nil), Notice.command("Speed", "read", problem: "status 3"),
            Notice.commandError("Speed", "read", "no such sensor"),
            Notice.serial(.deviceAppeared(service), on: "/dev/ttyACM0"),
            Notice.serial(.restored(1), on: "/dev/ttyACM0"),
            Notice.serial(.deviceRejected("taken", retryIn: delay), on: "/dev/ttyACM0"),
            Notice.serial(.problem("NaN"), on: "/dev/ttyACM0"),
            Notice.serial(.keptInMemory(SecurityError(.locked, "it is in use")), on: "/dev/ttyACM0"),
            Notice.serialDevice(SerialCandidate(path: "/dev/a", device: "/dev/b", isUsable: true)),
            Notice.line(.ready("/dev/pts/3")), Notice.line(.opened), Notice.line(.lost("unplugged", retryIn: delay)),
            Notice.line(.refused(host: "pi")), Notice.line(.notListening("closed", retryIn: delay)),
            Notice.program("hand", isConnected: true), Notice.record([1], elapsed: delay),
            Notice.screen(of: Commodore64()), Notice.cpuTest(cycles: 1),
        ]
    }

    /// What commands print that follow services.
    private static func bridges() throws -> [any ConsoleEvent] {
        let broker = try MQTTAddress("mqtt://localhost")
        func value(_ outcome: BridgedValue.Outcome, _ peer: BridgedValue.Peer, _ address: String? = nil)
            -> BridgedValueEvent
        {
            BridgedValueEvent(value: BridgedValue(key, speed, outcome, peer, isForService: peer == .hub, at: address))
        }
        return [
            Notice.serving("http://localhost/", nil), Notice.serving("http://localhost/", tokenFile: "t", "all"),
            Notice.serving("https://localhost/", tokenFile: "t", fingerprint: "AB:CD", nil),
            Notice.serviceState(key, "refused", "usage", "no such element"),
            Notice.browsingFailed(error, delay), Notice.browsingWorks, Notice.tooManyServices(1),
            Notice.valueLeftOut(key, speed, 1),
            value(.passed(.float(1)), .broker), value(.passed(.float(1)), .surfaces, "/Rover/Speed"),
            value(.notPassed(ValueRefusal(.notAChoice)), .hub), value(.notPassed(error), .surfaces, "/Rover/Speed"),
            value(.dropped, .broker), value(.dropped, .surfaces, "/Rover/Speed"),
            Notice.nothingSet(key, "does not let"), Notice.notShown(key, error),
            Notice.broker(broker, .brokerConnected), Notice.broker(broker, .sharedID("pi")),
            Notice.broker(broker, .brokerRefuses(MQTTError(.subscriptionRefused, "no"))),
            Notice.broker(broker, .brokerAway(MQTTError(.connectionLost, "no"), retryIn: delay)),
            Notice.bridging(broker, MQTTBridgeOptions()), Notice.forgotten("a/b"),
            Notice.listening(1, 2, OSCBridgeOptions()),
            Notice.osc(.announced(name: "Elemental")),
            Notice.osc(.notAnnounced(error)), Notice.osc(.surface("pi:1")),
            Notice.osc(.invalid(surface: "pi:1", reason: "no")),
            Notice.osc(.overloaded(reason: "much")),
            Notice.osc(.unknownAddress(surface: "pi:1", "/x")),
            Notice.osc(.failedToListen(error, retryIn: delay)),
            Notice.osc(.shown(key, prefix: "/Rover/")), Notice.metrics("elemental_up 1"),
        ]
    }

    private static func hubs() -> [any ConsoleEvent] {
        let changes: [ConnectionEvent] = [
            .opened, .willReconnect(nil), .didReconnect, .closed(SignalRError(.closedByServer, "bye")),
        ]
        return changes.flatMap { change in
            [Notice.hub("http://localhost/", change, over: .webSockets), Notice.hub("http://localhost/", change, key)]
        } + [
            HubMessageEvent(method: "Add", content: .result(.null)),
            HubMessageEvent(method: "Add", content: .item(.integer(1))),
            HubMessageEvent(method: "Add", content: .invocation([.integer(1)])), Notice.sentCall("Add"),
            Notice.bridging(key, to: "http://localhost/", controls: true, .control),
            Notice.bridging(key, to: "http://localhost/", controls: true, nil),
        ]
    }

    private static func others() -> [any ConsoleEvent] {
        var loaded = LatencyReport(transport: .tcp, via: .ping)
        loaded.load = LoadReport(load: .large, devices: 1, sent: 1, messages: 1, bytes: 1, seconds: 1)
        var oneWay = LatencyReport(transport: .tcp, via: .handlers)
        oneWay.oneWay = OneWayTimes()
        return [
            oneWay, Finding("clock", .ok, "it is right"), Finding("bus", .problem, "none", advice: "start it"),
            Notice.examined(problems: 1, warnings: 0),
            LatencyReport(transport: .tcp, via: .ping), loaded,
            ThroughputReport(
                transport: .tcp, sent: 1, arrived: SinkReport(run: 1), sending: 1, processorTime: 1),
            FanOutReport(devices: 1, deliveries: 1, seconds: 1, sent: 1, arrived: 1),
        ]
    }

    // MARK: - Recordings

    private static func recordings() async throws -> [any ConsoleEvent] {
        try await withRecording { recording, summary in
            [
                Notice.recorded(summary), Notice.warning(CommandFailure(error)),
                Notice.replaying(recording, speed: 1), Notice.notReplayed("Speed", CommandFailure(error)),
                Notice.replayed("a", sent: 1, refused: 0),
                RecordingInfo(recording: recording, events: try await recording.events(atMost: 10) + [lost]),
            ]
        }
    }

    /// What `export` prints of a recording.
    static func exported() async throws -> [JSONText] {
        try await withRecording { recording, _ in
            let text = RecordingText(recording, .json)
            var items = [lost]
            for try await item in recording.items { items.append(item) }
            return items.map { item in
                switch item.content {
                case .value(let value): text.json(value, item.time)
                case .event(let event, _): text.json(event, item.time)
                }
            }
        }
    }

    private static let lost = RecordedItem(
        time: delay, content: .event(RecordedEvent(kind: .lost, count: 3), service: nil))

    /// A recording of a service that was connected, away and refused.
    private static func withRecording<Result>(
        _ body: (Recording, RecordingSummary) async throws -> Result
    ) async throws -> Result {
        try await withFolder { folder in
            let recorder = try await Recorder(path: "\(folder)/test.mcap")
            recorder.noteConnected(key, [Element<Float>(1, "Speed"), Element<UInt8>(2, "Mode", choices: [1: "on"])])
            recorder.note(.value(key, speed, .float(0.5)))
            recorder.note(.value(key, mode, .uint8(1)))
            recorder.note(
                .state(key, .away(FollowingProblem(.unreachable, code: "timedOut", "too late"), retryIn: nil)))
            recorder.note(.state(key, .refused(FollowingProblem(.notPaired, code: "notPaired", "not paired"))))
            let summary = await recorder.finish()
            return try await body(Recording(path: recorder.path), summary)
        }
    }
}
