public import Elemental
public import ElementalFollowing
public import SignalR
import Support

/// Connects services to a SignalR hub as they come and go, each over a connection of its own: a ``HubBridge`` for each.
///
/// ```swift
/// let bridge = SignalRBridge([.service("robot")]) { _ in
///     HubConnectionBuilder(url: "https://example.org/robots").withAutoReconnect(.exponential()).build()
/// }
/// bridge.onEvent { print($0.key, $0.change) }
/// try await bridge.run()
/// ```
/// A service that returns with another catalogue is bridged with that.
public final class SignalRBridge: Sendable {
    /// Which services are bridged.
    public typealias Subject = ServiceSubject

    /// An event of one service's bridge.
    public struct Event: Sendable {
        /// The service.
        public let key: ServiceKey
        /// What has happened.
        public let change: Change
    }

    /// What happens to a service's bridge.
    public enum Change: Sendable {
        /// The service is bridged now.
        case began(HubBridge)
        /// It cannot be bridged, because its elements and the options contradict each other, or none of its elements is to
        /// be bridged.
        case notBridged(BridgeError)
        /// The hub was reached, over that transport.
        case hubOpened(TransportKind?)
        /// What the bridge does.
        case bridge(BridgeEvent)
    }

    /// Makes a connection to the hub for a service, which the bridge starts.
    public typealias MakeConnection = @Sendable (ServiceKey) async throws -> HubConnection

    /// The bridge of a service that is followed.
    private final class Bridged: Sendable {
        struct State {
            /// What to bridge; `nil` for nothing.
            var wanted: (device: ElementalDevice, elements: ElementCatalogue)?
            var isGone = false
        }

        let key: ServiceKey
        let state = Locked(State())
        /// Opened when the state has changed.
        let changed = Latch()

        init(_ key: ServiceKey) { self.key = key }
    }

    private let follower: Follower
    private let options: BridgeOptions
    private let isStrict: Bool
    private let makeConnection: MakeConnection
    private let events = EventHub<Event>()
    private let services = Locked<[ServiceKey: Bridged]>([:])
    /// Whether the hub was ever reached: a hub that never was is a mistake.
    private let hasReached = Locked(false)

    /// Creates a bridge, which does nothing until ``run()``.
    ///
    /// - Parameters:
    ///   - subjects: what is bridged.
    ///   - options: what is forwarded. A method that is mapped is used wherever a service has an element of that name.
    ///   - name: this client's name, under which the services list it.
    ///   - connect: how to connect to the services. The bridge sets the reconnection and the role.
    ///   - hub: makes a connection to the hub for a service.
    public convenience init(
        _ subjects: [Subject] = [.all], options: BridgeOptions = BridgeOptions(), name: String = "SignalR bridge",
        connect: ConnectOptions = ConnectOptions(), hub: @escaping MakeConnection
    ) {
        let following = FollowerOptions(name: name, connect, setsElements: options.setsElements)
        self.init(options: options, Self.follower(subjects, following), hub: hub)
    }

    /// Creates a bridge to services that are followed.
    ///
    /// - Parameters:
    ///   - isStrict: whether a service that cannot be bridged ends the bridge.
    ///   - follower: made by ``follower(_:_:)``.
    package init(
        options: BridgeOptions, isStrict: Bool = false, _ follower: Follower, hub: @escaping MakeConnection
    ) {
        self.options = options
        self.isStrict = isStrict
        self.follower = follower
        makeConnection = hub
    }

    /// A follower for a bridge, which asks the devices for long values when the hub returns.
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
    /// - Throws: ``SignalRError`` if the hub was never reached and cannot be; what making a connection throws;
    ///   ``ElementalError`` if a service's name is not valid.
    public func run() async throws {
        let (starts, start) = AsyncStream.makeStream(of: Bridged.self)
        follower.onEvent { [services] event in
            guard case .state(let key, let state) = event else { return }
            switch state {
            case .connected(let device, let elements):
                let (bridged, isNew) = services.withLock { services in
                    if let known = services[key] { return (known, false) }
                    let bridged = Bridged(key)
                    services[key] = bridged
                    return (bridged, true)
                }
                bridged.state.withLock { $0.wanted = (device, elements) }
                bridged.changed.open()
                if isNew { start.yield(bridged) }
            case .gone:
                guard let bridged = services.withLock({ $0.removeValue(forKey: key) }) else { return }
                bridged.state.withLock { ($0.wanted, $0.isGone) = (nil, true) }
                bridged.changed.open()
            case .connecting, .away, .refused: break
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [follower] in try await follower.run() }
            group.addTask {
                try await withThrowingDiscardingTaskGroup { group in
                    for await bridged in starts {
                        group.addTask {
                            do {
                                try await self.run(bridged)
                            } catch {
                                start.finish()
                                throw error
                            }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Bridges a service until it is gone or the task is cancelled.
    private func run(_ bridged: Bridged) async throws {
        while !Task.isCancelled {
            bridged.changed.close()
            let (wanted, isGone) = bridged.state.withLock { ($0.wanted, $0.isGone) }
            if isGone { return }
            if let (device, elements) = wanted {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await self.bridge(device, elements, bridged.key)
                        // The device has ended: another one may follow.
                        await bridged.changed.wait()
                    }
                    group.addTask { await Self.waitForOther(bridged, device, elements) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } else {
                await bridged.changed.wait()
            }
        }
    }

    /// Waits until the service is gone, or has another device or other elements.
    private static func waitForOther(
        _ bridged: Bridged, _ device: ElementalDevice, _ elements: ElementCatalogue
    ) async {
        while await bridged.changed.wait() {
            let isSame = bridged.state.withLock { state in
                !state.isGone && state.wanted?.device == device && state.wanted?.elements == elements
            }
            guard isSame else { return }
            bridged.changed.close()
        }
    }

    /// Passes the values of a service until its device has ended or the task is cancelled.
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
                return tell(.notBridged(BridgeError("none of its elements is to be bridged")), of: key)
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
                // The others go on.
                guard hasReached.withLock({ $0 }), !Task.isCancelled else { throw error }
                tell(.bridge(.hubAway(error)), of: key)
                await Delay.wait(backOff.next())
            }
        }
    }

    private func tell(_ change: Change, of key: ServiceKey) { events.emit(Event(key: key, change: change)) }
}
