public import ElementalFollowing
public import MQTT
internal import NIOCore
internal import Support

extension MQTTBridge {
    /// Empties a broker's retained messages of services: their values, their availability and their descriptions for
    /// Home Assistant, which removes their devices there. The services need not be running. A bridge that is still
    /// running publishes them again.
    ///
    /// - Parameters:
    ///   - subjects: the services; ``Subject/all`` for all below the base.
    ///   - broker: where the broker is.
    ///   - connection: how to connect to it. A failed connection is not retried.
    ///   - options: the base and the discovery that the bridge had.
    /// - Returns: the topics that were emptied.
    /// - Throws: ``MQTTError`` if the broker cannot be reached or does not answer, ``MQTTBridgeError`` for
    ///   contradictory options.
    public static func forget(
        _ subjects: [Subject], broker: MQTTAddress, connection: MQTTOptions = MQTTOptions(),
        options: MQTTBridgeOptions = MQTTBridgeOptions()
    ) async throws -> [String] {
        try options.check()
        var connection = connection
        connection.lastWill = nil
        connection.reconnection = nil
        let retained = try subjects.map { try RetainedTopics($0, options) }
        return try await MQTTClient.withConnection(broker, options: connection) { client in
            let topics = Locked<Set<String>>([])
            client.onMessage { message in
                guard message.isRetained, message.payload.readableBytes > 0,
                    retained.contains(where: { $0.covers(message.topic) })
                else { return }
                // Further topics need another call.
                topics.withLock { if $0.count < 10_000 { $0.insert(message.topic) } }
            }
            _ = try await client.subscribe(to: Set(retained.flatMap(\.filters)).sorted().map { ($0, .atLeastOnce) })
            // Until no message arrives for half a second, with a limit for a broker whose messages never end.
            for _ in 0..<20 {
                let count = topics.withLock { $0.count }
                await Delay.wait(.milliseconds(500), on: client.eventLoop)
                if topics.withLock({ $0.count }) == count || Task.isCancelled { break }
            }
            let found = topics.withLock { $0.sorted() }
            for name in found {
                try await client.publish(ByteBuffer(), to: MQTTTopic(name), qos: .atLeastOnce, retain: true)
            }
            return found
        }
    }
}

private struct RetainedTopics: Sendable {
    let filters: [String]
    /// What a received topic has to start with.
    private let prefix: String
    private let configs: (prefix: String, isWhole: Bool)
    private let discovery: DiscoveryTopics

    init(_ subject: MQTTBridge.Subject, _ options: MQTTBridgeOptions) throws(MQTTError) {
        discovery = DiscoveryTopics(prefix: options.discoveryPrefix)
        let key: ServiceKey
        switch subject {
        case .all, .service(_, nil):
            var level = "+"
            if case .service(let service, _) = subject { level = TopicLevel.service(service) }
            prefix = level == "+" ? "\(options.base)/" : "\(options.base)/\(level)/"
            configs = (level == "+" ? "elemental_" : ServiceTopics.idPrefix(level), false)
            filters =
                ["\(options.base)/\(level)/+/+"]
                + (options.discovery == .homeAssistant ? [discovery.allConfigs] : [])
            return
        case .service(let service, let name?): key = ServiceKey(service: service, name: name)
        case .address(let host, let port): key = ServiceKey(host: host, port: port)
        }
        let topics = try ServiceTopics(key, base: options.base, discovery)
        prefix = "\(options.base)/\(topics.path)/"
        configs = (topics.id, true)
        filters =
            ["\(options.base)/\(topics.path)/+"]
            + (options.discovery == .homeAssistant ? [topics.config.name] : [])
    }

    func covers(_ topic: String) -> Bool {
        guard let id = discovery.id(ofConfig: topic) else { return topic.hasPrefix(prefix) }
        if configs.isWhole { return id == configs.prefix }
        // Another service's name may start with this one's. The part for the instance contains no underscore.
        return id.hasPrefix(configs.prefix)
            && (configs.prefix == "elemental_" || !id.dropFirst(configs.prefix.count).contains("_"))
    }
}
