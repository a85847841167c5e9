internal import Elemental
internal import ElementalWire
internal import NIOCore
internal import Support

extension ServiceSession {
    /// A connection that lasted this long counts as a success.
    private static let steadyTime = Duration.seconds(5)
    /// How long a service that seems to be elsewhere may take to answer where it was.
    private static let answerTime = Duration.seconds(2)

    /// Connects and stays until the device has ended or the task is cancelled.
    func attempt() async -> End {
        let (place, pairedRole) = state.withLock { state in
            state.mustRenew = false
            state.hasMoved = false
            return (state.place, state.pairedRole)
        }
        let policy = SessionReconnection(options, to: place)
        var connect = options.connect
        connect.eventLoopGroup = loop
        connect.reconnection = policy
        connect.security.role = max(options.role(place), pairedRole ?? .plain)
        do throws(ElementalError) {
            let device = try await place.connect(as: options.name, elements: options.elements, options: connect) {
                [weak self] in self?.attach($0)
            }
            let end = await follow(device, policy)
            await release(device)
            return end
        } catch {
            await release(nil)
            return state.withLock({ $0.mustRenew }) ? .renew : end(error)
        }
    }

    /// The connection is ready and its elements are known: tells it, and then every value. On the event loop.
    private func attach(_ device: ElementalDevice) {
        guard let catalogue = options.elements ?? device.catalogue else { return }
        let isFirst = state.withLock { state in
            guard state.attachment == nil else { return false }
            state.attachment = Attachment(device: device, catalogue: catalogue)
            state.refusal = nil
            return true
        }
        guard isFirst else { return }
        sayNow(.state(key, .connected(device, catalogue)))
        let key = key
        let registrations = [
            device.onEvent { [weak self, weak device] event in
                if let self, let device { take(event, of: device) }
            },
            device.onRefusal { [weak self] element, refusal, _ in self?.sayNow(.refusal(key, element, refusal)) },
            device.onAnyValue { [weak self] element, value, _ in self?.sayNow(.value(key, element, value)) },
        ]
        state.withLock { $0.attachment?.registrations = registrations }
    }

    /// Nothing more is told of the device, which is closed.
    private func release(_ device: ElementalDevice?) async {
        let attachment = state.withLock { state in
            defer { state.attachment = nil }
            return state.attachment
        }
        for registration in attachment?.registrations ?? [] { registration.cancel() }
        guard let device = device ?? attachment?.device else { return }
        // Also where this task was cancelled, and would not wait.
        await Task { await device.close() }.value
    }

    /// Handles a change of the connection. On the event loop.
    private func take(_ event: DeviceEvent, of device: ElementalDevice) {
        switch event {
        case .willReconnect(let attempt, let delay):
            guard isWanted else { return device.disconnect() }
            let reason = attempt.lastError?.message ?? attempt.reason.description
            sayNow(.state(key, .away(reason: reason, retryIn: delay)))
        case .didReconnect:
            let catalogue = options.elements ?? device.knownElements
            // Of other elements a device that is new knows no values yet.
            let stays = state.withLock { state in
                guard let attachment = state.attachment, attachment.catalogue != catalogue else { return true }
                state.mustRenew = true
                return false
            }
            if stays { return sayNow(.state(key, .connected(device, catalogue))) }
            for registration in state.withLock({ $0.attachment?.registrations ?? [] }) { registration.cancel() }
            device.disconnect()
        case .disconnected: break
        }
    }

    /// Stays with a device until it has ended.
    private func follow(_ device: ElementalDevice, _ policy: SessionReconnection) async -> End {
        let start = ContinuousClock.now
        if options.elements == nil {
            do throws(ElementalError) {
                try await learn(device)
            } catch {
                return end(error)
            }
            await loop.run { self.attach(device) }
        }
        let reason = await withTaskGroup(of: DisconnectReason?.self) { group in
            group.addTask { await device.waitUntilDisconnected() }
            group.addTask {
                await self.heed(device)
                return nil
            }
            if let interval = options.pingInterval {
                group.addTask {
                    await self.measure(device, every: interval)
                    return nil
                }
            }
            for await reason in group {
                guard let reason else { continue }
                group.cancelAll()
                return reason.description
            }
            return "cancelled"
        }
        if state.withLock({ $0.mustRenew }) { return .renew }
        if let failure = policy.failure, SessionRefusal(failure) != nil { return end(failure) }
        return .failed(
            reason: policy.failure?.message ?? reason, wasSteady: .now - start >= Self.steadyTime)
    }

    /// Waits for the catalogue. A service that says no hello tells none.
    private func learn(_ device: ElementalDevice) async throws(ElementalError) {
        let timeout = options.connect.timeout
        do throws(ElementalError) {
            _ = try await device.catalogue(timeout: min(timeout, options.helloTime))
        } catch {
            guard error.code == .catalogueUnavailable else { throw error }
            guard device.isConnected else {
                throw ElementalError(.connectionFailed, "the connection was lost before it told its elements")
            }
            guard device.hello != nil, timeout > options.helloTime else { throw error }
            _ = try await device.catalogue(timeout: timeout - options.helloTime)
        }
    }

    /// How an attempt ended that failed.
    private func end(_ error: ElementalError) -> End {
        options.onFailure?(key, error)
        return SessionRefusal(error).map { .refused($0) } ?? .failed(reason: error.message, wasSteady: false)
    }

    /// Does what the network and the user say while there is a device.
    private func heed(_ device: ElementalDevice) async {
        while await wake.wait() {
            wake.close()
            let (mustRenew, hasMoved) = state.withLock { state in
                defer { state.hasMoved = false }
                return (state.mustRenew, state.hasMoved)
            }
            if mustRenew { return device.disconnect() }
            if device.isReconnecting {
                await hurry(device)
            } else if hasMoved, device.hello?.features.contains(.ping) == true,
                (try? await device.ping(timeout: Self.answerTime)) == nil, device.isConnected, !Task.isCancelled
            {
                // It is elsewhere now, and not here any more.
                return renew()
            }
        }
    }

    /// Makes the device's next attempt now.
    private func hurry(_ device: ElementalDevice) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await device.reconnect() }
            group.addTask { [loop] in await Delay.wait(.seconds(1), on: loop) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Measures the round trip again and again, while the service answers pings.
    private func measure(_ device: ElementalDevice, every interval: Duration) async {
        while !Task.isCancelled {
            if device.isConnected, device.hello?.features.contains(.ping) == true,
                let time = try? await device.ping(timeout: max(interval, Self.answerTime)), !Task.isCancelled
            {
                say(.roundTrip(key, time))
            }
            await Delay.wait(interval, on: loop)
        }
    }
}
