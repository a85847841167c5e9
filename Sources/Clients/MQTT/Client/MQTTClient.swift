import Logging
public import NIOCore
import Support
import Synchronization

/// A client of an MQTT 3.1.1 broker.
///
/// ```swift
/// let client = MQTTClient(try MQTTAddress("mqtt://broker.local"))
/// client.onMessage { message in print(message.topic, String(buffer: message.payload)) }
/// client.onEvent { event in
///     guard case .connected = event else { return }
///     Task { try await client.subscribe(to: "lamp/+/set") }
/// }
/// try await client.run()
/// ```
///
/// The client works on one event loop. Every session is a clean one: when the connection is lost, unacknowledged
/// messages are dropped; after a reconnection, subscriptions are restored.
public final class MQTTClient: Sendable {
    let core: ClientCore
    let keeper: NIOLoopBoundBox<ConnectionKeeper>
    private let isStarted = Atomic(false)

    /// Creates a client, which does nothing before ``run()``.
    public convenience init(_ address: MQTTAddress, options: MQTTOptions = MQTTOptions()) {
        self.init(ClientCore(address, options))
    }

    init(_ core: ClientCore) {
        self.core = core
        keeper = .makeBoxSendingValue(ConnectionKeeper(core), eventLoop: core.eventLoop)
    }

    // MARK: - State

    /// The address of the broker.
    public var address: MQTTAddress { core.address }

    /// The client identifier: the one in the options, or a random one.
    public var clientID: String { core.clientID }

    /// The event loop on which the client works and calls its handlers.
    public var eventLoop: any EventLoop { core.eventLoop }

    /// Whether the broker has accepted the connection and the client is not stopping.
    public var isConnected: Bool { core.outbox.withLock { $0.isOpen } }

    /// Counts of messages and bytes: sent, received and waiting.
    public var statistics: MQTTStatistics {
        var statistics = core.statistics.withLock { $0 }
        core.outbox.withLock { outbox in
            statistics.waitingMessages = outbox.count
            statistics.waitingBytes = outbox.bytes
            statistics.replacedMessages = outbox.replaced
        }
        return statistics
    }

    // MARK: - Running

    /// Connects, and reconnects according to ``MQTTOptions/reconnection`` when the connection is lost.
    ///
    /// A client runs once. When the task is cancelled, or ``stop()`` is called, it sends the waiting messages and
    /// disconnects, within 2 s, and this returns.
    ///
    /// - Throws: ``MQTTError`` with the reason if the client gives up; ``MQTTError/Code/alreadyStarted`` for a second
    ///   call.
    public func run() async throws(MQTTError) {
        guard !isStarted.exchange(true, ordering: .relaxed) else {
            throw MQTTError(.alreadyStarted, "a client runs only once; create another one")
        }
        try core.options.check(user: core.userName)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                eventLoop.execute { [keeper] in keeper.value.start { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            stop()
        }
        try result.get()
    }

    /// Sends the waiting messages, disconnects, and ends ``run()``.
    ///
    /// Returns at once. It can be called at any time and from any thread.
    public func stop() { eventLoop.execute { [keeper] in keeper.value.stop() } }

    // MARK: - Handlers

    /// Calls `handler` with every event of the connection, on the client's event loop. It must not block.
    ///
    /// Messages that it publishes in the call for ``MQTTEvent/connected`` are sent before subscriptions are restored.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (MQTTEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(core.events.addEventHandler(handler))
    }

    /// Calls `handler` with every message from the broker, on the client's event loop. It must not block.
    ///
    /// Messages are not queued: the broker waits while a handler runs. A message with QoS 1 is acknowledged when all
    /// handlers have returned.
    @discardableResult
    public func onMessage(_ handler: @escaping @Sendable (MQTTMessage) -> Void) -> HandlerRegistration {
        HandlerRegistration(core.messages.addEventHandler(handler))
    }
}

extension MQTTClient {
    /// Connects, runs `body` with the client, and ends the connection when `body` has returned or thrown.
    ///
    /// - Throws: ``MQTTError`` if the connection cannot be made, or ends before `body` does; any error that `body`
    ///   throws.
    public static func withConnection<Result: Sendable>(
        _ address: MQTTAddress, options: MQTTOptions = MQTTOptions(),
        _ body: @escaping @Sendable (MQTTClient) async throws -> Result
    ) async throws -> Result {
        let client = MQTTClient(address, options: options)
        let isReady = Latch()
        client.onEvent { event in
            if case .connected = event { isReady.open() }
        }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await client.run()
                return nil
            }
            group.addTask {
                guard await isReady.wait() else { throw CancellationError() }
                return try await body(client)
            }
            // The first of the two to end. The connection is first only if it is lost for good, or the task is
            // cancelled.
            let first = try await group.next() ?? nil
            // Ends the connection after the messages that `body` published are sent.
            group.cancelAll()
            guard let first else { throw CancellationError() }
            try await group.waitForAll()
            return first
        }
    }
}
