import ElementalHistory
import ElementalSecurity
import NIOCore
import Support
import Zeroconf

#if ServiceLifecycle
public import ServiceLifecycle

extension ElementalService: Service {}
#endif

/// Runs `operation`. With the trait ServiceLifecycle, a graceful shutdown of the service group cancels it.
package func untilGracefulShutdown(_ operation: @escaping @Sendable () async -> Void) async {
    #if ServiceLifecycle
    await cancelWhenGracefulShutdown(operation)
    #else
    await operation()
    #endif
}

extension ElementalService {
    /// Listens, publishes and serves until the task is cancelled or a service group shuts it down gracefully; then it
    /// withdraws the service, notifies the devices and closes.
    ///
    /// - Throws: ``ElementalError`` if the service cannot start, as ``start()`` does, or cannot go on:
    ///   ``ServiceEvent/failed(_:)``.
    public func run() async throws {
        try await start()
        // `nil` if the service was stopped already.
        if let ended { await untilGracefulShutdown { _ = await ended.wait() } }
        await stop(reason: "the service has ended")
        try await waitUntilStopped()
    }

    /// Starts listening and publishing; returns when the service accepts connections.
    ///
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/addressInUse``,
    ///   ``ElementalError/Code/permissionDenied``, ``ElementalError/Code/listeningFailed``,
    ///   ``ElementalError/Code/invalidState`` if the service is already running, ``ElementalError/Code/invalidValue``
    ///   if the port is invalid or the name or TXT record cannot be published, ``ElementalError/Code/cancelled`` if the
    ///   service was stopped meanwhile.
    public func start() async throws(ElementalError) {
        let ended = Latch()
        let mayStart = state.withLock { state in
            guard case .idle = state.phase else { return false }
            state = State(phase: .starting, ended: ended)
            return true
        }
        guard mayStart else { throw ElementalError(.invalidState, "the service '\(service)' is already running") }
        shared.failure.withLock { $0 = nil }
        do throws(ElementalError) {
            guard shared.policy == .open || AuthorisingService.isValid(name: service) else {
                throw ElementalError(.invalidValue, "'\(service)' cannot start: \(AuthorisingService.nameRule)")
            }
            await beginHistories()
            let listener = try await Listener.open(shared)
            do throws(ElementalError) {
                let publication = shared.configuration.isPublished ? try Publication(shared, listener) : nil
                let isWanted = state.withLock { state in
                    guard case .starting = state.phase else { return false }
                    state.phase = .running(listener, publication)
                    return true
                }
                guard isWanted else {
                    throw ElementalError(.cancelled, "the service '\(service)' was stopped while it started")
                }
                await listener.emit(.listening(port: listener.port))
                shared.histories.onFailure { [weak self] failure in
                    self?.listener?.execute {
                        $0.service.events.emit(failure.map { .historyUnavailable($0) } ?? .historyAvailable)
                    }
                }
                publication?.start()
                checkRoles()
            } catch {
                await listener.close("the service does not start")
                throw error
            }
        } catch {
            state.withLock { $0 = State() }
            ended.open()
            throw error
        }
    }

    /// Withdraws the service, sends what is queued, sends every device the reason and closes the connections.
    ///
    /// This completes even in a cancelled task and takes at most about ``DeviceLimits/closeTimeout``; it does not wait
    /// longer for a Zeroconf daemon that hangs. A stopped service can be started again. If the service is still
    /// starting, ``start()`` throws ``ElementalError/Code/cancelled``.
    /// - Parameter reason: the text sent to the devices.
    public func stop(reason: String = "the service was stopped") async {
        let before = state.withLock { state in
            defer { if state.ended != nil { state.phase = .stopping } }
            return state
        }
        let ended = before.ended
        guard case .running(let listener, let publication) = before.phase else {
            await uncancelled { _ = await ended?.wait() }
            return
        }
        // The daemon may hang; the withdrawal then continues in the background.
        let withdrawn = Latch()
        Task {
            await publication?.stop()
            withdrawn.open()
        }
        async let isWithdrawn = uncancelled { [shared] in
            await withdrawn.wait(shared.configuration.limits.closeTimeout, on: listener.eventLoop)
        }
        await listener.close(reason)
        if let failure = await endHistories(on: listener.eventLoop) {
            await listener.emit(.historyUnavailable(failure))
        }
        _ = await isWithdrawn
        state.withLock { $0 = State() }
        await listener.emit(.stopped)
        ended?.open()
    }

    /// Writes the beginnings of the histories to their files, before a client receives a value. The disk may hang, so
    /// the wait is limited to ``DeviceLimits/closeTimeout``.
    private func beginHistories() async {
        guard shared.histories.isInFiles else { return }
        let begun = Latch()
        Task { [shared] in
            await shared.histories.begin()
            begun.open()
        }
        _ = await begun.wait(
            shared.configuration.limits.closeTimeout, on: shared.configuration.eventLoopGroup.any())
    }

    /// Writes the values of the histories to the disk, with the same time limit.
    ///
    /// - Returns: why values are not on the disk; `nil` if they are, or if the histories are in memory only.
    private func endHistories(on eventLoop: any EventLoop) async -> SecurityError? {
        guard shared.histories.isInFiles else { return nil }
        let late = SecurityError(
            .inputOutput, "the values of histories were not written to the disk in time; some may be lost")
        let result = Locked<SecurityError?>(late)
        let kept = Latch()
        Task { [shared] in
            let failure = await shared.histories.synchronise()
            result.withLock { $0 = failure }
            kept.open()
        }
        await uncancelled { [shared] in
            _ = await kept.wait(shared.configuration.limits.closeTimeout, on: eventLoop)
        }
        return result.withLock { $0 }
    }

    func followOwnEvents() {
        _ = shared.events.addEventHandler { [weak self, failure = shared.failure] event in
            switch event {
            case .failed(let error):
                failure.withLock { $0 = error }
                Task { await self?.stop(reason: "the service has failed") }
            // These entries always fit into the record.
            case .pairing(.opened), .pairing(.openedByAdmin): try? self?.advertise { $0.isPairing = true }
            case .pairing(.closed): try? self?.advertise { $0.isPairing = false }
            default: break
            }
        }
    }

    /// - Throws: the failure that stopped the service, if there was one.
    package func waitUntilStopped() async throws(ElementalError) {
        await ended?.wait()
        if let failure = shared.failure.withLock({ $0 }) { throw failure }
    }

    var ended: Latch? { state.withLock { $0.ended } }

    /// Checks whether the service can be published under its names and with its TXT entries, as ``start()`` does,
    /// without publishing it.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` and what is allowed.
    public func checkNames() throws(ElementalError) {
        do {
            _ = try ServiceType.tcp(service)
            try ServiceName.check(displayName)
            // The record in the common listing has further entries.
            _ = try shared.txtRecord(instanceName: nil).encoded()
            _ = try shared.txtRecord(instanceName: displayName).encoded()
        } catch {
            throw ElementalError(.invalidValue, error.message)
        }
    }

    /// - Throws: ``ElementalError/Code/invalidValue`` with what is allowed.
    package static func check(service: String) throws(ElementalError) {
        do {
            _ = try ServiceType.tcp(service)
        } catch {
            throw ElementalError(.invalidValue, error.message)
        }
    }
}
