import Bridging
import Elemental
import SignalR
import SignalRBridge
import Support

/// Bridges the services that are followed to a hub, each with a connection of its own, which is made anew when the
/// service has another catalogue.
final class HubBridging: Sendable {
    /// What all bridges have in common.
    struct Plan: Sendable {
        /// The hub's address.
        let url: String
        let hub: HubOptions
        let bridge: BridgeOptions
        let access: ClientAccess
        let output: OutputOptions
        let console: Console
        /// Whether to print each value that passes.
        let prints: Bool
        /// The service; `nil` for all that there are, whose events then say which one they are about.
        let place: ServicePlace?
    }

    /// The bridge of a service.
    private struct Current: Sendable {
        let device: ElementalDevice
        let elements: ElementCatalogue
        /// Opened to end it.
        let stop = Latch()
        /// Open once it has ended.
        let end = Latch()
    }

    private let plan: Plan
    private let options: SessionOptions
    private let transfers: Transfers
    /// Whether the hub was ever reached: a hub that never was is a mistake.
    private let hasReached = Locked(false)

    /// - Parameter options: how the services are followed.
    init(_ plan: Plan, _ options: SessionOptions) {
        self.plan = plan
        self.options = options
        transfers = Transfers(plan.console, showsIncoming: true)
    }

    private var isAll: Bool { plan.place == nil }

    /// Passes values until the task is cancelled.
    ///
    /// - Throws: ``CommandFailure`` and other errors if the one service cannot be connected to at first, if it cannot be
    ///   spoken with, or if the hub cannot be reached at first.
    func run() async throws {
        let inputs = HubInputs()
        var options = options
        // The bridge asks the devices.
        (options.keepsLongValues, options.keepsLongValuesInDevices) = (false, true)
        options.onFailure = { inputs.put($1) }
        let sessions = ServiceSessions(subjects, options)
        let shown = Locked<ElementalDevice?>(nil)
        let reporter = SessionReporter(plan.console, plan.access)
        sessions.onEvent { [transfers, isAll] event in
            switch event {
            case .state(let key, let state):
                if !isAll, case .connected(let device, _) = state, shown.withLock({ $0 != device }) {
                    shown.withLock { $0 = device }
                    transfers.follow(device)
                }
                // Of one service the device tells more.
                if isAll || state.isRefused { reporter.note(event) }
                inputs.put(state, of: key)
            case .place, .browsingFailed, .browsingWorks, .tooMany, .leftOut: reporter.note(event)
            case .value, .refusal, .roundTrip: break
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sessions.run() }
            group.addTask { try await self.handle(inputs, sessions) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private var subjects: [ServiceSubject] {
        switch plan.place {
        case nil: [.all]
        case .found(let service): [.service(service.service, name: service.name)]
        case .address(let host, let port): [.address(host: host, port: port)]
        }
    }

    private func handle(_ inputs: HubInputs, _ sessions: ServiceSessions) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var bridges: [ServiceKey: Current] = [:]
            try await inputs.forEach { input in
                switch input {
                case .failure(let error):
                    if let place = plan.place {
                        let advice = PairingAdvice(place: place, access: plan.access)
                        throw advice.explain(error) ?? ElementAdvice.option.explain(error)
                    }
                case .connected(let key, let device, let elements):
                    let old = bridges[key]
                    let isSame = old?.device == device && old?.elements == elements
                    if isSame { return }
                    if !isAll { await plan.console.emit(ConnectedEvent(device)) }
                    let current = Current(device: device, elements: elements)
                    bridges[key] = current
                    old?.stop.open()
                    let place = sessions.place(of: key)
                    group.addTask {
                        defer { current.end.open() }
                        do {
                            if let old { await old.end.wait() }
                            try await Self.run(until: current.stop) {
                                try await self.bridge(device, elements, key, place ?? self.plan.place)
                            }
                        } catch {
                            inputs.finish()
                            throw error
                        }
                    }
                case .gone(let key): bridges.removeValue(forKey: key)?.stop.open()
                }
            }
            group.cancelAll()
        }
    }

    /// Passes the values of a service until its device has ended or the task is cancelled.
    private func bridge(
        _ device: ElementalDevice, _ elements: ElementCatalogue, _ key: ServiceKey, _ place: ServicePlace?
    ) async throws {
        let reporting = isAll ? nil : report(device)
        defer { reporting?.cancel() }
        var backOff = BackOff(first: .seconds(1))
        while !Task.isCancelled {
            let connection = try await plan.hub.connection(to: plan.url, plan.output, reconnects: true)
            guard let bridge = try await makeBridge(device, elements, connection, key) else { return }
            await say(BridgingEvent(bridge, url: plan.url, controls: plan.bridge.setsElements), of: key)
            await advise(bridge, place, key)
            follow(bridge, key)
            let reason: DisconnectReason?
            do throws(SignalRError) {
                reason = try await bridge.run()
            } catch {
                // The others go on.
                guard isAll, hasReached.withLock({ $0 }), !Task.isCancelled else { throw error }
                await say(HubConnectionEvent(url: plan.url, change: .willReconnect(error)), of: key)
                await Delay.wait(backOff.next())
                continue
            }
            guard let reason else { return }
            return try await ended(device, reason)
        }
    }

    /// Returns: `nil` for a service that cannot be bridged while others are, which is told.
    private func makeBridge(
        _ device: ElementalDevice, _ elements: ElementCatalogue, _ connection: HubConnection, _ key: ServiceKey
    ) async throws -> HubBridge? {
        var options = plan.bridge
        // What is mapped is mapped wherever there is such an element.
        if isAll {
            options.methods = options.methods.filter { elements[$0.key] != nil }
        } else {
            _ = try elements.elements(named: options.methods.keys.sorted(), of: device.name)
        }
        do throws(BridgeError) {
            let bridge = try HubBridge(device: device, elements: elements, connection: connection, options: options)
            return isAll && bridge.routes.isEmpty ? nil : bridge
        } catch {
            guard isAll else { throw error }
            await plan.console.emit(SessionStateEvent(key, refused: error.message))
            return nil
        }
    }

    private func advise(_ bridge: HubBridge, _ place: ServicePlace?, _ key: ServiceKey) async {
        guard plan.bridge.setsElements, let place, !bridge.setsAnything else { return }
        let advice = PairingAdvice(place: place, access: plan.access).toControl(bridge.device)
        if !advice.isEmpty { await plan.console.talk("\(bridge.device.name) lets this bridge set nothing\(advice)") }
    }

    /// Reports what the bridge does.
    private func follow(_ bridge: HubBridge, _ key: ServiceKey) {
        let (prints, url, console) = (plan.prints, plan.url, plan.console)
        let dropped = Locked<Set<Dropping>>([])
        let key = isAll ? key : nil
        bridge.onEvent { event in
            switch event {
            case .toHub, .toDevice: if !prints { return }
            case .dropped(let element, let direction):
                // Reported once per element: a flood would fill the screen.
                guard dropped.withLock({ $0.insert(Dropping(id: element.id, direction: direction)).inserted })
                else { return }
            default: break
            }
            console.offer(OfService(key, BridgeReport(event: event, url: url)))
        }
        bridge.connection.onOpened { [weak self, weak connection = bridge.connection] in
            self?.hasReached.withLock { $0 = true }
            console.offer(OfService(key, HubConnectionEvent(url: url, change: .opened(connection?.transport))))
        }
    }

    /// Reports the losses and returns of the one service.
    private func report(_ device: ElementalDevice) -> Task<Void, Never> {
        let events = device.events()
        return Task { [console = plan.console] in
            for await event in events {
                switch event {
                case .willReconnect(let attempt, let delay):
                    await console.emit(WillReconnectEvent(device: device.name, attempt: attempt, delay: delay))
                case .didReconnect: await console.emit(ConnectedEvent(device, isAgain: true))
                case .disconnected: break
                }
            }
        }
    }

    /// A device has ended. It is followed by another one, if there is anything to hope for.
    private func ended(_ device: ElementalDevice, _ reason: DisconnectReason) async throws {
        switch reason.kind {
        case .closedHere, .cancelled: return
        default: break
        }
        guard !isAll else { return }
        await plan.console.emit(DisconnectedEvent(device: device.name, reason: reason))
        switch reason.kind {
        case .protocolViolation, .catalogueMismatch, .invalidCatalogue: throw Client.ended(device, reason)
        default: break
        }
    }

    private func say(_ event: some ConsoleEvent, of key: ServiceKey) async {
        await plan.console.emit(OfService(isAll ? key : nil, event))
    }

    /// Runs `body` until it ends or the latch is open.
    private static func run(until stop: Latch, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { await stop.wait() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// An element and the direction in which its values are dropped.
    private struct Dropping: Hashable {
        let id: Int8
        let direction: BridgeEvent.Direction
    }
}

extension SessionState {
    fileprivate var isRefused: Bool {
        if case .refused = self { true } else { false }
    }
}
