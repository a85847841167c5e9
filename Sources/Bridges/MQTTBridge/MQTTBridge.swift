public import Elemental
public import ElementalFollowing
public import MQTT
internal import NIOCore
internal import Support

/// Bridges services to an MQTT broker: element values become retained messages, and messages set elements.
///
/// ```swift
/// let bridge = try MQTTBridge([.all], broker: MQTTAddress("mqtt://homeassistant.local"))
/// bridge.onEvent { print($0) }
/// try await bridge.run()
/// ```
/// Home Assistant shows each service as a device. The broker, Home Assistant, the bridge, the services and the network
/// can fail and return in any order; the bridge recovers by itself.
public final class MQTTBridge: Sendable {
    /// The services to bridge.
    public typealias Subject = ServiceSubject

    /// The connection to the broker.
    public let client: MQTTClient
    private let follower: Follower
    private let options: MQTTBridgeOptions
    private let topics: BridgeTopics
    private let events = EventHub<MQTTBridgeEvent>()

    /// Creates a bridge, which does nothing until ``run()``.
    ///
    /// - Parameters:
    ///   - subjects: the services to bridge.
    ///   - broker: where the broker is.
    ///   - connection: how to connect to the broker. The bridge sets the last will.
    ///   - options: what the bridge publishes, and what the broker's clients may do.
    ///   - name: this client's name in the services' lists.
    ///   - connect: how to connect to the services. The bridge sets the reconnection, the role and the event loop.
    /// - Throws: ``MQTTBridgeError`` for contradictory options.
    public convenience init(
        _ subjects: [Subject] = [.all], broker: MQTTAddress, connection: MQTTOptions = MQTTOptions(),
        options: MQTTBridgeOptions = MQTTBridgeOptions(), name: String = "MQTT bridge",
        connect: ConnectOptions = ConnectOptions()
    ) throws(MQTTBridgeError) {
        // Everything runs on one event loop, so that no value moves from thread to thread.
        var connection = connection
        connection.eventLoopGroup = connection.eventLoopGroup.next()
        let following = FollowerOptions(
            name: name, connect, on: connection.eventLoopGroup, setsElements: options.setsElements)
        try self.init(Follower(subjects, following), broker: broker, connection, options)
    }

    /// Creates a bridge of a follower that has not been started. The event loop group of both is the same single event
    /// loop.
    package init(
        _ follower: Follower, broker: MQTTAddress, _ connection: MQTTOptions, _ options: MQTTBridgeOptions
    ) throws(MQTTBridgeError) {
        try options.check()
        do throws(MQTTError) {
            topics = try BridgeTopics(
                base: options.base, id: options.id, discovery: DiscoveryTopics(prefix: options.discoveryPrefix))
        } catch {
            throw MQTTBridgeError(error.message)
        }
        var connection = connection
        connection.lastWill = MQTTLastWill(topic: topics.bridge, payload: BridgeCore.availability(false))
        client = MQTTClient(broker, options: connection)
        self.options = options
        self.follower = follower
    }

    /// Calls `handler` with every event of the bridge, on its event loop. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (MQTTBridgeEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(events.addEventHandler(handler))
    }

    /// Follows the services and passes values on until the task is cancelled. Then it publishes that the bridge is
    /// offline. Call it once.
    ///
    /// - Throws: ``MQTTError`` if the broker rejects this client or is not a broker; ``ElementalError`` for an invalid
    ///   service name. A broker that cannot be reached is retried.
    public func run() async throws {
        let loop = client.eventLoop
        let core = await loop.run { [client, options, topics, events] in
            NIOLoopBound(BridgeCore(client, options, topics) { events.emit($0) }, eventLoop: loop)
        }
        // The core holds the client, which holds these handlers: they are cancelled at the end.
        let handlers = [
            client.onEvent { core.value.take($0) },
            client.onMessage { core.value.take($0) },
        ]
        follower.onEvent(on: loop) { core.value.take($0) }
        // Not a child task: it outlives the services, so that the bridge can publish its end.
        let connection = Task { [client] in try await client.run() }
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [follower] in try await follower.run() }
                group.addTask {
                    // Cancelling this task does not cancel the other one that it waits for.
                    try await withTaskCancellationHandler {
                        try await connection.value
                    } onCancel: {
                        Task { await self.leave(core) }
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await leave(core)
        _ = await connection.result
        for handler in handlers { handler.cancel() }
        try result.get()
    }

    /// The maximum time for publishing the end of the bridge.
    private static let farewellTime = Duration.seconds(2)

    /// Publishes that the bridge is offline, and closes the connection.
    private func leave(_ core: NIOLoopBound<BridgeCore>) async {
        await client.eventLoop.run { core.value.leave() }
        if client.isConnected {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [client, topics] in
                    try? await client.publish(
                        BridgeCore.availability(false), to: topics.bridge, qos: .atLeastOnce, retain: true)
                }
                group.addTask { await Delay.wait(Self.farewellTime) }
                await group.next()
                group.cancelAll()
            }
        }
        client.stop()
    }
}
