public import Elemental
public import ElementalFollowing
public import SignalR
import Support

/// Connects a device to a SignalR hub: values of its elements call methods of the hub, and the hub's calls set
/// elements.
///
/// ```swift
/// let hub = HubConnectionBuilder(url: "https://example.org/robots?name=Rover")
///     .withAutoReconnect(.exponential()).build()
/// let bridge = try HubBridge(device: rover, elements: Robot.all, connection: hub)
/// try await bridge.run()
/// ```
/// An element and its method have the same name in both directions. The value is the method's only argument: a number,
/// a string, a `bool`, an array of numbers for vectors and matrices, bytes for data.
///
/// Either end may disconnect. When the hub returns, the bridge calls it with the newest value of each element. When the
/// device returns, it sends its values again.
public final class HubBridge: Sendable {
    /// The device.
    public let device: ElementalDevice
    /// The connection to the hub.
    public let connection: HubConnection
    /// The forwarded elements, each with its hub method.
    public let routes: [(element: ElementDefinition, method: String)]

    private let toHub: PacedForwarder
    private let toDevice: PacedForwarder
    private let events = EventHub<BridgeEvent>()
    private let tell: @Sendable (BridgedValue.Outcome, ElementDefinition, _ isForService: Bool) -> Void
    private let echoes = EchoFilter()
    private let oversized: Locked<OversizedValues<Int8>>
    private let setsElements: Bool
    /// The elements for which a refused call from the hub was reported.
    private let refused = Locked<Set<Int8>>([])

    /// Creates a bridge, which does nothing until ``run()``.
    ///
    /// - Parameters:
    ///   - device: a client's device; it reconnects as its ``ConnectOptions/reconnection`` says.
    ///   - elements: the elements to forward: readable ones call the hub, writable ones are set by it.
    ///   - connection: a connection that has not been started.
    ///   - key: the service in events; `nil` for the device's service and name.
    /// - Throws: ``BridgeError`` if the options name an unknown element, or two elements have the same method.
    public init(
        device: ElementalDevice, elements: ElementCatalogue, connection: HubConnection,
        options: BridgeOptions = BridgeOptions(), key: ServiceKey? = nil
    ) throws(BridgeError) {
        let events = events
        let key = key ?? ServiceKey(service: device.service, name: device.name)
        let tell: @Sendable (BridgedValue.Outcome, ElementDefinition, Bool) -> Void = {
            outcome, element, isForService in
            events.emit(.value(BridgedValue(key, element, outcome, .hub, isForService: isForService)))
        }
        self.tell = tell
        self.device = device
        self.connection = connection
        let routes = try options.routes(elements)
        self.routes = routes
        setsElements = options.setsElements
        let methods = Dictionary(uniqueKeysWithValues: routes.map { ($0.element.id, $0.method) })
        let echoes = echoes
        let oversized = Locked(OversizedValues<Int8>())
        self.oversized = oversized
        toHub = PacedForwarder(
            interval: options.interval, limit: options.queueLimit, byteLimit: options.queueByteLimit, now: options.now
        ) { element, value in
            guard let method = methods[element.id],
                !oversized.withLock({ $0.isTooLarge(Self.byteCount(of: value), of: element.id) })
            else { return .done }
            do throws(SignalRError) {
                try await connection.send(method, HubElementValue(value))
                oversized.withLock { $0.note(Self.byteCount(of: value), of: element.id, at: .now) }
                tell(.passed(value), element, false)
            } catch {
                // The value is sent when the hub is back.
                guard ![.notConnected, .reconnecting, .cancelled].contains(error.code) else { return .away }
                tell(.notPassed(error), element, false)
            }
            return .done
        }
        toDevice = PacedForwarder(
            interval: options.interval, limit: options.queueLimit, byteLimit: options.queueByteLimit, now: options.now
        ) { element, value in
            do throws(ElementalError) {
                try device.send(value, to: element)
                tell(.passed(value), element, true)
            } catch {
                echoes.forget(element)
                tell(.notPassed(error), element, true)
            }
            return .done
        }
    }

    /// Calls `handler` with every event of the bridge, from any thread. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (BridgeEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(events.addEventHandler(handler))
    }

    /// Starts the connection and forwards values until the device has disconnected for good or the task is cancelled.
    /// If the hub closes the connection, the bridge connects again. Call it once.
    ///
    /// - Returns: why the device's connection ended; `nil` if the task was cancelled.
    /// - Throws: ``SignalRError`` if the hub cannot be reached at the start.
    @discardableResult
    public func run() async throws(SignalRError) -> DisconnectReason? {
        let lifecycle = connection.events
        let registrations = routes.filter { $0.element.access.contains(.write) }.map { element, method in
            connection.onAny(method) { [weak self] in self?.take($0, for: element) }
        }
        let wanted = Set(routes.filter { $0.element.access.contains(.read) }.map(\.element.id))
        let values = device.onAnyValue { [weak self] element, value, _ in
            if wanted.contains(element.id) { self?.take(value, of: element) }
        }
        let refusals = device.onRefusal { [weak self] element, refusal, _ in
            self?.echoes.forget(element)
            self?.tell(.notPassed(refusal), element, true)
        }
        defer {
            values.cancel()
            refusals.cancel()
            for registration in registrations { registration.cancel() }
        }
        toHub.isAway = true
        try await connection.start()
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                _ = try? await self.device.waitUntilDisconnected()
                return true
            }
            group.addTask { await self.follow(lifecycle) }
            for courier in [toHub, toDevice] {
                group.addTask {
                    await courier.run()
                    return true
                }
            }
            for await isOver in group where isOver { break }
            group.cancelAll()
        }
        await connection.stop()
        return Task.isCancelled ? nil : device.disconnectReason
    }

    private func take(_ value: ElementValue, of element: ElementDefinition) {
        guard echoes.isNews(value, of: element) else { return }
        if !toHub.add(value, of: element) { drop(element, isForService: false) }
    }

    private func drop(_ element: ElementDefinition, isForService: Bool) {
        echoes.forget(element)
        tell(.dropped, element, isForService)
    }

    private func take(_ arguments: HubArguments, for element: ElementDefinition) {
        guard setsElements else { return refuse(element) }
        do throws(SignalRError) {
            let value = try arguments.elementValue(of: element.type)
            guard echoes.isNews(value, of: element) else { return }
            // An older value that is still waiting would become the hub's newest.
            if element.latest { toHub.drop(element) }
            if !toDevice.add(value, of: element) { drop(element, isForService: true) }
        } catch {
            tell(.notPassed(error), element, true)
        }
    }

    private func refuse(_ element: ElementDefinition) {
        guard refused.withLock({ $0.insert(element.id).inserted }) else { return }
        let error = BridgeError(
            "this bridge is read-only: set BridgeOptions.setsElements, or use --control on the command line")
        tell(.notPassed(error), element, true)
    }

    private func follow(_ lifecycle: AsyncStream<ConnectionEvent>) async -> Bool {
        var opened = ContinuousClock.now
        var shortLived = 0
        for await event in lifecycle {
            switch event {
            case .opened:
                opened = .now
                returned()
            case .didReconnect:
                returned()
                events.emit(.hubReturned)
            case .failedToOpen:
                break
            case .willReconnect(let error):
                toHub.isAway = true
                events.emit(.hubAway(error))
                lookForOversizedValue(error)
            case .closed(let error):
                toHub.isAway = true
                guard !Task.isCancelled else { return true }
                events.emit(.hubAway(error))
                lookForOversizedValue(error)
                // If the hub ends each connection soon, the delay before the next one grows.
                shortLived = .now - opened < Self.shortLife ? shortLived + 1 : 0
                await startAgain(after: max(shortLived - 1, 0))
            }
        }
        // The task was cancelled.
        return true
    }

    /// Sends the newest values, because the hub does not know them from the previous connection.
    private func returned() {
        for route in routes where route.element.access.contains(.read) && !toHub.holds(route.element) {
            // A value set by the hub is newer than the device's own, and the device may not send it again.
            let newest = echoes.newest(of: route.element, own: device.value(of: route.element))
            if let newest, !toHub.add(newest, of: route.element) { drop(route.element, isForService: false) }
        }
        toHub.isAway = false
    }

    /// If the hub closes connections because a value is too large, finds that value and skips it from then on.
    private func lookForOversizedValue(_ error: SignalRError?) {
        let found = oversized.withLock {
            $0.connectionLost(isByPeer: error?.code == .closedByServer, at: .now)
        }
        guard let found, let route = routes.first(where: { $0.element.id == found.id }) else { return }
        let what =
            "the hub closes the connection after a value of \(found.byteCount) bytes: the bridge now skips values of this "
            + "size. ASP.NET Core accepts messages of 32 KB; raise its MaximumReceiveMessageSize for larger ones"
        tell(.notPassed(SignalRError(.messageTooLarge, what)), route.element, false)
    }

    /// The approximate size of a value in a message, in bytes: data is base64 in JSON.
    static func byteCount(of value: ElementValue) -> Int {
        if case .data(let data) = value { return (data.count + 2) / 3 * 4 }
        return value.wireByteCount
    }

    private static var shortLife: Duration { .seconds(30) }

    /// Reconnects, because the connection does not do so after the hub has closed it in an orderly way.
    private func startAgain(after failures: Int) async {
        let backOff = BackOff(first: .seconds(1))
        for attempt in failures... {
            await Delay.wait(backOff.delay(before: attempt + 1))
            guard !Task.isCancelled else { return }
            do throws(SignalRError) {
                try await connection.start()
                return events.emit(.hubReturned)
            } catch {
                guard error.code != .alreadyStarted else { return }
            }
        }
    }
}
