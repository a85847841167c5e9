public import Elemental
public import ElementalFollowing
public import SignalR
import Support

/// Connects services to a SignalR hub as they come and go, with a ``HubBridge`` and a connection to the hub for each.
///
/// ```swift
/// let bridge = SignalRBridge([.service("robot")]) { _ in
///     HubConnectionBuilder(url: "https://example.org/robots").withAutoReconnect(.exponential()).build()
/// }
/// bridge.onEvent { print($0.key, $0.change) }
/// try await bridge.run()
/// ```
/// A service that returns with another catalogue gets a new ``HubBridge``.
public final class SignalRBridge: Sendable {
    /// The services to bridge.
    public typealias Subject = ServiceSubject

    /// An event of one service's bridge.
    public struct Event: Sendable {
        /// The service.
        public let key: ServiceKey
        /// What has happened.
        public let change: Change
    }

    /// A change of a service's bridge.
    public enum Change: Sendable {
        /// The service is bridged now.
        case began(HubBridge)
        /// The service cannot be bridged, because the options contradict its elements or select none of them.
        case notBridged(BridgeError)
        /// The connection to the hub is open, over this transport.
        case hubOpened(TransportKind?)
        /// An event of the service's bridge.
        case bridge(BridgeEvent)
    }

    /// Creates a connection to the hub for a service. The bridge starts it.
    public typealias MakeConnection = @Sendable (ServiceKey) async throws -> HubConnection

    private let follower: Follower
    private let options: BridgeOptions
    private let isStrict: Bool
    private let makeConnection: MakeConnection
    private let events = EventHub<Event>()
    /// Whether the hub was ever reached. Otherwise the address is probably wrong, and ``run()`` throws.
    private let hasReached = Locked(false)

    /// Creates a bridge, which does nothing until ``run()``.
    ///
    /// - Parameters:
    ///   - subjects: the services to bridge.
    ///   - options: what to forward. A mapped method is used for every service that has an element of that name.
    ///   - name: this client's name in the services' lists.
    ///   - connect: how to connect to the services. The bridge sets the reconnection and the role.
    ///   - hub: creates a connection to the hub for a service.
    public convenience init(
        _ subjects: [Subject] = [.all], options: BridgeOptions = BridgeOptions(), name: String = "SignalR bridge",
        connect: ConnectOptions = ConnectOptions(), hub: @escaping MakeConnection
    ) {
        let following = FollowerOptions(name: name, connect, setsElements: options.setsElements)
        self.init(options: options, Self.follower(subjects, following), hub: hub)
    }

    /// - Parameters:
    ///   - isStrict: whether a service that cannot be bridged ends the bridge.
    ///   - follower: created by ``follower(_:_:)``.
    package init(
        options: BridgeOptions, isStrict: Bool = false, _ follower: Follower, hub: @escaping MakeConnection
    ) {
        self.options = options
        self.isStrict = isStrict
        self.follower = follower
        makeConnection = hub
    }

    /// Creates a follower for a bridge, which reads long values from the devices when the hub returns.
    package static func follower(_ subjects: [Subject], _ options: FollowerOptions) -> Follower {
        var options = options
        (options.keepsLongValues, options.keepsLongValuesInDevices) = (false, true)
        return Follower(subjects, options)
    }

    /// Calls `handler` with every event, from any thread. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (Event) -> Void) -> Elemental.HandlerRegistration {
        Elemental.HandlerRegistration(events.addEventHandler(handler))
    }

    /// Follows the services and bridges them until the task is cancelled. Call it once.
    ///
    /// - Throws: ``SignalRError`` if the hub was never reached and cannot be; any error of creating a connection;
    ///   ``ElementalError`` for an invalid service name.
    public func run() async throws {
        let (changes, change) = AsyncStream.makeStream(of: (key: ServiceKey, wanted: Bridged?).self)
        follower.onEvent { event in
            switch event {
            case .state(let key, .connected(let device, let elements)):
                change.yield((key, Bridged(device: device, elements: elements)))
            case .state(let key, .gone): change.yield((key, nil))
            default: break
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [follower] in try await follower.run() }
            group.addTask {
                // A failure ends the stream, and so all other services.
                try await self.bridge(changes) { change.finish() }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// A service's device, with its catalogue at the time of the connection.
    private struct Bridged: Equatable {
        let device: ElementalDevice
        let elements: ElementCatalogue
    }

    /// Bridges each service with its newest device and elements, until it is gone.
    private func bridge(
        _ changes: AsyncStream<(key: ServiceKey, wanted: Bridged?)>, failed: @escaping @Sendable () -> Void
    ) async throws {
        var services: [ServiceKey: (bridged: Bridged, task: Task<Void, any Error>)] = [:]
        try await withThrowingDiscardingTaskGroup { group in
            for await (key, wanted) in changes where services[key]?.bridged != wanted {
                let earlier = services[key]?.task
                earlier?.cancel()
                services[key] = nil
                guard let wanted else { continue }
                let task = Task {
                    _ = await earlier?.result
                    if !Task.isCancelled { try await self.bridge(wanted.device, wanted.elements, key) }
                }
                services[key] = (wanted, task)
                group.addTask {
                    let result = await withTaskCancellationHandler {
                        await task.result
                    } onCancel: {
                        task.cancel()
                    }
                    guard case .failure(let error) = result, !task.isCancelled else { return }
                    failed()
                    throw error
                }
            }
        }
    }

    /// Bridges a service until its device has ended or the task is cancelled.
    private func bridge(_ device: ElementalDevice, _ elements: ElementCatalogue, _ key: ServiceKey) async throws {
        var backOff = BackOff(first: .seconds(1))
        var options = options
        if !isStrict { options.methods = options.methods.filter { elements[$0.key] != nil } }
        while !Task.isCancelled {
            let connection = try await makeConnection(key)
            let bridge: HubBridge
            do throws(BridgeError) {
                bridge = try HubBridge(
                    device: device, elements: elements, connection: connection, options: options, key: key)
            } catch {
                guard !isStrict else { throw error }
                return tell(.notBridged(error), of: key)
            }
            guard isStrict || !bridge.routes.isEmpty else {
                return tell(
                    .notBridged(BridgeError("none of its elements is mapped to a method; map at least one")), of: key)
            }
            tell(.began(bridge), of: key)
            bridge.onEvent { [weak self] in self?.tell(.bridge($0), of: key) }
            connection.onOpened { [weak self, weak connection] in
                guard let self else { return }
                hasReached.withLock { $0 = true }
                tell(.hubOpened(connection?.transport), of: key)
            }
            do throws(SignalRError) {
                try await bridge.run()
                return
            } catch {
                // The bridges of other services go on.
                guard hasReached.withLock({ $0 }), !Task.isCancelled else { throw error }
                tell(.bridge(.hubAway(error)), of: key)
                await Delay.wait(backOff.next())
            }
        }
    }

    private func tell(_ change: Change, of key: ServiceKey) { events.emit(Event(key: key, change: change)) }
}
