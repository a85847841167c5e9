import Foundation
import TestSupport
import Testing

/// A service, a bridge that has told it to mosquitto, and what is there then.
struct BridgeBed {
    let service: ChildProcess
    /// The service as HOST:PORT.
    let target: String
    let bridge: ChildProcess
    let watch: TopicWatch
    let device: DeviceTopics
    let broker: MosquittoBroker

    static func with(
        _ elements: [String], _ options: [String] = [], _ body: (BridgeBed) async throws -> Void
    ) async throws {
        try await MosquittoBroker.with { broker in
            try await Robot.with(elements) { service, target in
                try await withBridge(broker.port, [target], options) { bridge in
                    try await TopicWatch.with(port: broker.port) { watch in
                        let device = try await DeviceTopics.ofAddress(target, in: watch)
                        try await body(
                            BridgeBed(
                                service: service, target: target, bridge: bridge, watch: watch, device: device,
                                broker: broker))
                    }
                }
            }
        }
    }

    /// Publishes at an element's `/set`.
    func set(_ element: String, _ text: String) async throws {
        try await MosquittoClient.publish(port: broker.port, device("\(element)/set"), text)
    }

    /// Runs `elemental mqtt` during the body, which begins when it has reached the broker.
    static func withBridge<Result>(
        _ port: Int, _ targets: [String], _ options: [String] = [], environment: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let arguments = ["mqtt"] + targets + ["--broker", "mqtt://127.0.0.1:\(port)", "--json"] + options
        return try await withCommand(arguments, environment: environment) { bridge in
            // A service may have been reached, or not, before the broker was.
            try await bridge.nextEvent("bridging")
            return try await body(bridge)
        }
    }

    /// Runs a published service, found with the environment's Zeroconf, during the body.
    static func withPublishedService<Result>(
        _ service: String, _ name: String, _ elements: [String], environment: [String: String],
        isolation: isolated (any Actor)? = #isolation, _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let specs = elements.flatMap { ["--element", $0] }
        return try await withCommand(
            ["publish", service, "--name", name, "--security", "open", "--json"] + specs, environment: environment, body
        )
    }
}

enum BrokerKind: String, CaseIterable, CustomTestStringConvertible {
    case mosquitto, nats, amqtt

    var testDescription: String { rawValue }

    var isThere: Bool {
        switch self {
        case .mosquitto: MosquittoBroker.unavailableReason == nil
        case .nats: NATSBroker.unavailableReason == nil
        case .amqtt: AMQTTBroker.unavailableReason == nil
        }
    }

    /// Runs a broker during the body: for everybody, or for one user, which amqtt does not know.
    func with(
        user: String? = nil, password: String = "", _ body: (any MQTTBroker) async throws -> Void
    ) async throws {
        switch self {
        case .mosquitto:
            guard let user else { return try await MosquittoBroker().run { try await body($0) } }
            let settings = ["allow_anonymous false", "password_file {folder}/passwords"]
            try await MosquittoBroker.with(settings, users: [user: password]) { try await body($0) }
        case .nats:
            let user = user.map { (name: $0, password: password) }
            try await NATSBroker(user: user).run { try await body($0) }
        case .amqtt: try await AMQTTBroker().run { try await body($0) }
        }
    }
}

struct DeviceTopics {
    /// The levels above the elements', as in `elemental/robot/rover`.
    let base: String

    /// Finds those of a service that was given as HOST:PORT, whose level ends in digits that only the bridge computes.
    static func ofAddress(_ target: String, in watch: TopicWatch) async throws -> DeviceTopics {
        let prefix = "elemental/address/\(target.replacing(".", with: "-").replacing(":", with: "-"))-"
        return try await watch.wait("a topic below \(prefix)") { watch in
            watch.topics.keys.first { $0.hasPrefix(prefix) && $0.hasSuffix("/availability") }
                .map { DeviceTopics(base: String($0.dropLast("/availability".count))) }
        }
    }

    var availability: String { "\(base)/availability" }
    /// The topic of its discovery message.
    var configuration: String {
        let levels = base.split(separator: "/").suffix(2).joined(separator: "_")
        return "homeassistant/device/elemental_\(levels)/config"
    }

    func callAsFunction(_ element: String) -> String { "\(base)/\(element)" }
}

extension TopicWatch {
    /// The newest discovery message of a device, once it has one for which the condition holds.
    func discovery(
        of device: DeviceTopics, isAutomatic: Bool = true, fileID: String = #fileID, line: Int = #line,
        where isWanted: (DiscoveryCheck) -> Bool = { _ in true }
    ) async throws -> DiscoveryCheck {
        try await wait("a discovery message as expected", fileID: fileID, line: line) { watch in
            guard let message = watch.newest(of: device.configuration), !message.payload.isEmpty else { return nil }
            let check = DiscoveryCheck(
                topic: message.topic, payload: message.payload, isAutomatic: isAutomatic)
            return isWanted(check) ? check : nil
        }
    }
}

extension Trait where Self == ConditionTrait {
    static var needsAvahi: Self {
        .enabled(if: PrivateAvahi.unavailableReason == nil, Comment(rawValue: PrivateAvahi.unavailableReason ?? ""))
    }

    static var needsTwoHosts: Self {
        .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? ""))
    }

    /// A test with mosquitto and its clients as peers.
    static var needsMosquitto: Self {
        .enabled(
            if: MosquittoBroker.unavailableReason == nil && MQTTPeers.haveClients,
            "mosquitto or its clients are not there: run Tests/install mqtt")
    }
}
