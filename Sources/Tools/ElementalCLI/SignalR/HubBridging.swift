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
        /// The service; `nil` for all that there are.
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
    private let values: BridgeReport
    /// Whether the hub was ever reached: a hub that never was is a mistake.
    private let hasReached = Locked(false)

    /// - Parameter options: how the services are followed.
    init(_ plan: Plan, _ options: SessionOptions) {
        self.plan = plan
        self.options = options
        transfers = Transfers(plan.console, showsIncoming: true)
        values = BridgeReport(plan.console, .hub, prints: plan.prints, setsElements: plan.bridge.setsElements)
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
        sessions.onEvent { [transfers, isAll, values, plan, weak sessions] event in
            switch event {
            case .state(let key, let state):
                values.note(event, plan.access) { sessions?.place(of: $0) ?? plan.place }
                if !isAll, case .connected(let device, _) = state, shown.withLock({ $0 != device }) {
                    shown.withLock { $0 = device }
                    transfers.follow(device)
                }
                // The failure of the first attempt to connect to the one service ends the command, which says so.
                if isAll || state.isRefused || shown.withLock({ $0 != nil }) { reporter.note(event) }
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
                    let current = Current(device: device, elements: elements)
                    bridges[key] = current
                    old?.stop.open()
                    group.addTask {
                        defer { current.end.open() }
                        do {
                            if let old { await old.end.wait() }
                            try await Self.run(until: current.stop) {
                                try await self.bridge(device, elements, key)
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
        _ device: ElementalDevice, _ elements: ElementCatalogue, _ key: ServiceKey
    ) async throws {
        var backOff = BackOff(first: .seconds(1))
        while !Task.isCancelled {
            let connection = try await plan.hub.connection(to: plan.url, plan.output, reconnects: true)
            guard let bridge = try await makeBridge(device, elements, connection, key) else { return }
            await plan.console.emit(
                HubBridgingEvent(
                    key: key, url: plan.url, controls: plan.bridge.setsElements, role: device.grantedRole))
            follow(bridge, key)
            let reason: DisconnectReason?
            do throws(SignalRError) {
                reason = try await bridge.run()
            } catch {
                // The others go on.
                guard isAll, hasReached.withLock({ $0 }), !Task.isCancelled else { throw error }
                await plan.console.emit(HubConnectionEvent(url: plan.url, change: .willReconnect(error), key: key))
                await Delay.wait(backOff.next())
                continue
            }
            guard let reason else { return }
            return try ended(device, reason)
        }
    }

    /// Returns: `nil` for a service that cannot be bridged while others are, which is told.
    private func makeBridge(
        _ device: ElementalDevice, _ elements: ElementCatalogue, _ connection: HubConnection, _ key: ServiceKey
    ) async throws -> HubBridge? {
        var options = plan.bridge
        // What is mapped is mapped wherever there is such an element.
        if isAll { options.methods = options.methods.filter { elements[$0.key] != nil } }
        do throws(BridgeError) {
            let bridge = try HubBridge(device: device, elements: elements, connection: connection, options: options)
            return isAll && bridge.routes.isEmpty ? nil : bridge
        } catch {
            guard isAll else { throw error }
            await plan.console.emit(SessionStateEvent(key, refused: "invalidOptions", error.message))
            return nil
        }
    }

    /// Reports what the bridge does.
    private func follow(_ bridge: HubBridge, _ key: ServiceKey) {
        let (url, console, values) = (plan.url, plan.console, values)
        bridge.onEvent { event in
            switch event {
            case .toHub(let element, let value): values.note(.passed(value), element, isInbound: false, of: key)
            case .toDevice(let element, let value): values.note(.passed(value), element, isInbound: true, of: key)
            case .failed(let element, let direction, let error):
                values.note(.notPassed(error), element, isInbound: direction == .toDevice, of: key)
            case .dropped(let element, let direction):
                values.note(.dropped, element, isInbound: direction == .toDevice, of: key)
            case .hubAway(let error):
                console.offer(HubConnectionEvent(url: url, change: .willReconnect(error), key: key))
            case .hubReturned: console.offer(HubConnectionEvent(url: url, change: .didReconnect, key: key))
            }
        }
        bridge.connection.onOpened { [weak self, weak connection = bridge.connection] in
            self?.hasReached.withLock { $0 = true }
            console.offer(HubConnectionEvent(url: url, change: .opened(connection?.transport), key: key))
        }
    }

    /// A device has ended. It is followed by another one, if there is anything to hope for.
    private func ended(_ device: ElementalDevice, _ reason: DisconnectReason) throws {
        switch reason.kind {
        case .protocolViolation, .catalogueMismatch, .invalidCatalogue:
            if !isAll { throw Client.ended(device, reason) }
        default: break
        }
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
}

extension SessionState {
    fileprivate var isRefused: Bool {
        if case .refused = self { true } else { false }
    }
}
