internal import Elemental
internal import ElementalWire
internal import NIOCore
internal import Support

extension FollowedService {
    /// A connection that lasted this long counts as a success.
    private static let steadyTime = Duration.seconds(5)
    /// How long a service that seems to have moved may take to answer at its old address.
    private static let answerTime = Duration.seconds(2)

    /// Connects and returns when the device has ended or the task is cancelled.
    func attempt() async -> End {
        let (place, pairedRole) = state.withLock { state in
            state.mustRenew = false
            state.hasMoved = false
            return (state.place, state.pairedRole)
        }
        let policy = FollowerReconnection(options, to: place)
        var connect = options.connect
        connect.eventLoopGroup = loop
        connect.reconnection = policy
        connect.memory = memory
        connect.onLeftOut = { [weak self] element, byteCount in self?.leaveOut(element, byteCount) }
        connect.keepsLongValues = options.keepsLongValuesInDevices
        connect.security.role = max(options.role(place), pairedRole ?? .plain)
        do throws(ElementalError) {
            let device = try await place.connect(as: options.name, elements: options.elements, options: connect) {
                [weak self] device in self?.configure(device)
            }
            let end = await follow(device, policy)
            await release(device)
            return end
        } catch {
            await release(nil)
            return state.withLock({ $0.mustRenew }) ? .renew : end(error)
        }
    }

    /// Reports the connection, and then every value. Runs on the event loop when the connection is ready.
    ///
    /// There are no values before the elements are known. The handler is registered before the first value arrives, so
    /// that the device need not keep any value.
    private func configure(_ device: ElementalDevice) {
        attach(device)
        let registration = device.onAnyValue { [weak self] element, value, device in
            self?.take(value, of: element, device)
        }
        state.withLock { $0.values = registration }
    }

    private func detach() -> Attachment? {
        let (attachment, values) = state.withLock { state in
            defer { state.attachment?.histories = [:] }
            return (state.attachment, state.values.take())
        }
        values?.cancel()
        for registration in attachment?.registrations ?? [] { registration.cancel() }
        releaseHistories(attachment?.histories.count ?? 0)
        return attachment
    }

    /// Reports a value. Runs on the event loop.
    private func take(_ value: ElementValue, of element: ElementDefinition, _ device: ElementalDevice) {
        if state.withLock({ $0.attachment == nil }) { attach(device) }
        if state.withLock({ $0.attachment?.histories[element.id] != nil }) { return }
        guard options.onlyElements.isEmpty || options.onlyElements.contains(element.name) else { return }
        if options.keepsLongValues, !hold(value.wireByteCount, of: element) { return }
        emitNow(.value(key, element, value, at: device.time(of: element)))
    }

    /// Values up to this length are not counted.
    private static let shortByteCount = 256

    /// - Returns: whether there is room for a value in place of the element's former one.
    func hold(_ byteCount: Int, of element: ElementDefinition) -> Bool {
        let isHeld = state.withLock { state in
            let old = state.held[element.id] ?? 0
            let new = byteCount > Self.shortByteCount ? byteCount : 0
            guard old != new else { return true }
            guard memory.replace(old, by: new, own: state.heldByteCount) else { return false }
            state.held[element.id] = new
            state.heldByteCount += new - old
            return true
        }
        if !isHeld { leaveOut(element, byteCount) }
        return isHeld
    }

    /// Reports, once per connection, that there was no room for a value. Runs on the event loop.
    func leaveOut(_ element: ElementDefinition, _ byteCount: Int) {
        let isNews = state.withLock { state in
            defer { state.wasToldLeftOut = true }
            return !state.wasToldLeftOut
        }
        if isNews { emitNow(.leftOut(key, element, byteCount: byteCount)) }
    }

    /// Returns the service's share of the memory: its values are no longer kept.
    func releaseAll() {
        state.withLock { state in
            _ = memory.note(-state.heldByteCount, own: 0)
            state.held = [:]
            state.heldByteCount = 0
        }
    }

    /// Reports the connection once the service's elements are known. Runs on the event loop.
    private func attach(_ device: ElementalDevice) {
        guard let known = options.elements ?? device.catalogue else { return }
        let catalogue = options.followed(known)
        let isFirst = state.withLock { state in
            guard state.attachment == nil else { return false }
            state.attachment = Attachment(device: device, catalogue: catalogue)
            state.refusal = nil
            state.turns = 0
            state.wasToldLeftOut = false
            return true
        }
        guard isFirst else { return }
        emitNow(.state(key, .connected(device, catalogue)))
        attachHistories(catalogue)
        let key = key
        let registrations = [
            device.onEvent { [weak self, weak device] event in
                if let self, let device { take(event, of: device) }
            },
            device.onRefusal { [weak self] element, refusal, _ in self?.emitNow(.refusal(key, element, refusal)) },
        ]
        state.withLock { $0.attachment?.registrations = registrations }
    }

    /// Closes the device and reports nothing more of it.
    private func release(_ device: ElementalDevice?) async {
        let attachment = detach()
        state.withLock { $0.attachment = nil }
        await (device ?? attachment?.device)?.close()
    }

    /// Handles a change of the connection. Runs on the event loop.
    private func take(_ event: DeviceEvent, of device: ElementalDevice) {
        switch event {
        case .willReconnect(let attempt, let delay):
            guard isWanted else { return device.disconnect() }
            let problem = attempt.lastError.map { FollowingProblem($0) } ?? FollowingProblem(attempt.reason)
            emitNow(.state(key, .away(problem, retryIn: delay)))
        case .didReconnect:
            let catalogue = options.followed(options.elements ?? device.knownElements)
            // If the elements have changed, start with a new device: this one still has values of the old elements.
            let stays = state.withLock { state in
                guard let attachment = state.attachment, attachment.catalogue != catalogue else { return true }
                state.mustRenew = true
                return false
            }
            if stays { return emitNow(.state(key, .connected(device, catalogue))) }
            _ = detach()
            device.disconnect()
        case .disconnected: break
        }
    }

    /// Follows a device until it has ended.
    private func follow(_ device: ElementalDevice, _ policy: FollowerReconnection) async -> End {
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
            group.addTask { try? await device.waitUntilDisconnected() }
            group.addTask {
                await self.reactToChanges(device)
                return nil
            }
            group.addTask {
                await self.followHistories(of: device)
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
                return reason
            }
            return DisconnectReason(.cancelled, isExpected: true)
        }
        if state.withLock({ $0.mustRenew }) { return .renew }
        let problem = policy.failure.map { FollowingProblem($0) } ?? FollowingProblem(reason)
        if let failure = policy.failure, problem.isLasting { return end(failure) }
        return .failed(problem, wasSteady: .now - start >= Self.steadyTime)
    }

    /// Waits for the catalogue. A service that sends no hello has none.
    private func learn(_ device: ElementalDevice) async throws(ElementalError) {
        let timeout = options.connect.timeout
        do throws(ElementalError) {
            _ = try await device.catalogue(timeout: min(timeout, options.helloTime))
        } catch {
            guard error.code == .catalogueUnavailable else { throw error }
            guard device.isConnected else {
                throw ElementalError(.connectionFailed, "the connection was lost before the catalogue arrived")
            }
            guard device.hello != nil, timeout > options.helloTime else { throw error }
            _ = try await device.catalogue(timeout: timeout - options.helloTime)
        }
    }

    private func end(_ error: ElementalError) -> End {
        let problem = FollowingProblem(error)
        return problem.isLasting ? .refused(problem) : .failed(problem, wasSteady: false)
    }

    /// Reacts to changes from Zeroconf and to requests of the user while there is a device.
    private func reactToChanges(_ device: ElementalDevice) async {
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
                // The service has moved: it no longer answers here.
                return renew()
            }
        }
    }

    private func hurry(_ device: ElementalDevice) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await device.reconnect() }
            group.addTask { [loop] in await Delay.wait(.seconds(1), on: loop) }
            await group.next()
            group.cancelAll()
        }
    }

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

/// Retries without end, with growing delays, unless waiting does not help: the service refuses this client, or another
/// service answers.
private struct FollowerReconnection: ReconnectionPolicy {
    private let backOff: BackOff
    /// Whether to give up when a service does not answer the hello. An address may belong to another service by now,
    /// one that sends no hello. For a discovered service Zeroconf reports such a change.
    private let endsInSilence: Bool
    private let last = Locked<ElementalError?>(nil)

    init(_ options: FollowerOptions, to place: ServicePlace) {
        backOff = BackOff(first: options.firstRetry, maximum: options.longestRetry)
        endsInSilence = place.discovered == nil
    }

    /// Why it has given up; `nil` if it has not.
    var failure: ElementalError? { last.withLock { $0 } }

    func delay(before attempt: ReconnectionAttempt) -> Duration? {
        if let error = attempt.lastError,
            FollowingProblem(error).isLasting || (endsInSilence && error.code == .timedOut)
        {
            last.withLock { $0 = error }
            return nil
        }
        return backOff.delay(before: attempt.number)
    }
}
