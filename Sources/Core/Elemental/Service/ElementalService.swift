import ElementalSecurity
public import ElementalWire
import NIOCore
import Support

/// A service: the elements that this machine lets any number of clients control and read.
///
/// ```swift
/// let lamp = ElementalService("screen_control", displayName: "Desk lamp", elements: Lamp.all)
/// lamp.onValue(of: Lamp.brightness) { value, device in backlight.set(value) }
/// try await lamp.run()
/// ```
/// All handlers of a service run on one event loop, one at a time, in the order in which values arrive; they must not
/// block.
/// A program may have any number of services.
public final class ElementalService: Sendable {
    let shared: Shared
    let state = Locked(State.idle)

    /// State shared by the service's event loop and its callers.
    final class Shared: Sendable {
        let name: String
        let displayName: String
        let configuration: ServiceConfiguration
        let handlers = HandlerTable()
        let events = EventHub<ServiceEvent>()
        let admission = Locked<(@Sendable (ConnectionRequest) -> Admission)?>(nil)
        let devices = Locked(DeviceRoster())
        let current: Locked<CurrentValues>
        let txt: Locked<[String: String]>
        /// What the TXT record says about the service's security.
        let security: Locked<SecurityEntries>
        /// Why the service cannot go on, since it was started last.
        let failure = Locked<ElementalError?>(nil)

        init(name: String, displayName: String, elements: ElementCatalogue, configuration: ServiceConfiguration) {
            self.name = name
            self.displayName = displayName
            var configuration = configuration
            configuration.logger = configuration.logger.printable
            self.configuration = configuration
            current = Locked(CurrentValues(ElementTable(elements), under: configuration.securityPolicy))
            txt = Locked(configuration.txt)
            security = Locked(SecurityEntries(configuration.security))
        }

        /// All elements.
        var table: ElementTable { current.withLock { $0.table } }

        /// The elements that frames of a new connection are validated against.
        func table(for role: Role) -> ElementTable { current.withLock { $0.table(for: role) } }

        var policy: SecurityPolicy { configuration.securityPolicy }
    }

    enum State {
        case idle
        /// A `stop()` that arrived while starting waits on this latch.
        case starting(Latch?)
        /// The latch opens when the service has stopped.
        case running(Listener, Publication?, ended: Latch)
        case stopping(ended: Latch)
    }

    /// Creates a service that is not on the network yet.
    ///
    /// - Parameters:
    ///   - service: the service's name, such as `robot`, by which clients find it.
    ///   - displayName: the instance's display name; `nil` for the host's name. At most 63 UTF-8 bytes when published.
    ///   - elements: the elements that can be controlled and read.
    ///   - configuration: port, UDP, limits, logging.
    public init(
        _ service: String, displayName: String? = nil, elements: ElementCatalogue,
        configuration: ServiceConfiguration = ServiceConfiguration()
    ) {
        shared = Shared(
            name: service, displayName: displayName ?? HostName.current, elements: elements,
            configuration: configuration)
        advertisePairing()
        stopWhenFailed()
    }

    /// The service's name, such as `robot`.
    public var service: String { shared.name }
    /// The requested name of the instance. ``ServiceEvent/published(name:)`` reports the assigned one.
    public var displayName: String { shared.displayName }
    /// The elements that can be controlled and read.
    public var elements: ElementCatalogue { shared.table.catalogue }
    /// The connected devices.
    public var devices: [ElementalDevice] { shared.devices.withLock { $0.devices } }
    /// The port that the service listens on, or `nil` when it is not running.
    public var port: Int? {
        state.withLock { state in
            guard case .running(let listener, _, _) = state else { return nil }
            return listener.port
        }
    }

    /// How it listens, publishes and limits its clients.
    public var configuration: ServiceConfiguration { shared.configuration }
    /// The maximum number of concurrent devices, or `nil` when the service is not running:
    /// ``ServiceConfiguration/maximumDeviceCount``, or fewer where this process may not open as many files and sockets
    /// (`ulimit -n`). Some descriptors are reserved for the rest of the program; further connections are refused with
    /// the reason.
    public var deviceCapacity: Int? {
        state.withLock { state in
            guard case .running(let listener, _, _) = state else { return nil }
            return listener.deviceCapacity
        }
    }

    /// The service's events from now on; each call returns a separate stream.
    public func events() -> AsyncStream<ServiceEvent> { shared.events.makeEventStream() }

    /// Calls `handler` with each event of the service, on its event loop. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (ServiceEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(shared.events.addEventHandler(handler))
    }

    /// Accepts or refuses connections before they are set up: called once with the address and once with the name, on
    /// the event loop. It must not block.
    ///
    /// A client is admitted after both. One that does not say its name within ``DeviceLimits/handshakeTimeout`` is
    /// refused; values that it sent before its name are rejected.
    public func onConnectionRequest(_ decide: @escaping @Sendable (ConnectionRequest) -> Admission) {
        shared.admission.withLock { $0 = decide }
    }

    /// Changes the TXT entries that browsers show before they connect, whether or not the service is running.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` if the entries do not fit a TXT
    ///   record; the service keeps its previous ones.
    public func update(txt: [String: String]) throws(ElementalError) {
        try republish(shared.txt) { $0 = txt }
    }

    /// Changes a part of the TXT record.
    func republish<Part: Sendable>(_ part: Locked<Part>, _ change: (inout Part) -> Void) throws(ElementalError) {
        let before = part.withLock { current in
            let before = current
            change(&current)
            return before
        }
        guard case .running(_, let publication?, _) = state.withLock({ $0 }) else { return }
        do {
            try publication.updateTXT()
        } catch {
            part.withLock { $0 = before }
            throw error
        }
    }

    /// Replaces the elements that can be controlled and read, whether or not the service is running.
    ///
    /// Connected devices know the previous elements: they are sent the reason and disconnected, and receive the new
    /// elements when they reconnect. Values of elements whose definitions are unchanged are kept.
    /// - Parameter reason: the text sent to the devices.
    public func update(
        elements: ElementCatalogue, reason: String = "the service's elements have changed; connect again"
    ) {
        shared.use(elements)
        guard case .running(let listener, _, _) = state.withLock({ $0 }) else { return }
        listener.disconnectDevices(reason)
    }

    /// Starts listening and publishing; returns when the service accepts connections.
    ///
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/addressInUse``,
    ///   ``ElementalError/Code/permissionDenied``, ``ElementalError/Code/listeningFailed``,
    ///   ``ElementalError/Code/invalidState`` if the service is already running, ``ElementalError/Code/invalidValue``
    ///   if the port is none, or the service's name or TXT record cannot be published, ``ElementalError/Code/cancelled`` if it was stopped
    ///   meanwhile.
    public func start() async throws(ElementalError) {
        let mayStart = state.withLock { state in
            guard case .idle = state else { return false }
            state = .starting(nil)
            return true
        }
        guard mayStart else { throw ElementalError(.invalidState, "the service '\(service)' runs already") }
        shared.failure.withLock { $0 = nil }
        do throws(ElementalError) {
            guard shared.policy == .open || AuthorisingService.isValid(name: service) else {
                throw ElementalError(.invalidValue, "'\(service)' cannot start: \(AuthorisingService.nameRule)")
            }
            let listener = try await Listener.open(shared)
            do throws(ElementalError) {
                let publication = shared.configuration.isPublished ? try Publication(shared, listener) : nil
                let isWanted = state.withLock { state in
                    guard case .starting(nil) = state else { return false }
                    state = .running(listener, publication, ended: Latch())
                    return true
                }
                guard isWanted else {
                    throw ElementalError(.cancelled, "the service '\(service)' was stopped while it started")
                }
                await listener.emit(.listening(port: listener.port))
                publication?.start()
                checkRoles()
            } catch {
                await listener.close("the service does not start")
                throw error
            }
        } catch {
            let stopped: Latch? = state.withLock { state in
                defer { state = .idle }
                if case .starting(let stopped) = state { return stopped }
                return nil
            }
            stopped?.open()
            throw error
        }
    }

    /// Withdraws the service, sends what is queued, sends every device the reason and closes the connections.
    ///
    /// It waits for that also in a cancelled task, and takes at most about ``DeviceLimits/closeTimeout``: a Zeroconf daemon
    /// that hangs is not waited for. A stopped service can be started again. If the service is still starting, ``start()``
    /// throws ``ElementalError/Code/cancelled``.
    /// - Parameter reason: the text sent to the devices.
    public func stop(reason: String = "the service was stopped") async {
        let (running, ended): ((Listener, Publication?)?, Latch?) = state.withLock { state in
            switch state {
            case .running(let listener, let publication, let ended):
                state = .stopping(ended: ended)
                return ((listener, publication), ended)
            case .starting(let latch):
                let latch = latch ?? Latch()
                state = .starting(latch)
                return (nil, latch)
            case .stopping(let ended): return (nil, ended)
            case .idle: return (nil, nil)
            }
        }
        guard let (listener, publication) = running else {
            // Another task ends it.
            await uncancelled { _ = await ended?.wait() }
            return
        }
        // The daemon may be hung: then the withdrawal goes on by itself.
        let withdrawn = Latch()
        Task {
            await publication?.stop()
            withdrawn.open()
        }
        async let isWithdrawn = uncancelled { [shared] in
            await withdrawn.wait(shared.configuration.limits.closeTimeout, on: listener.eventLoop)
        }
        await listener.close(reason)
        _ = await isWithdrawn
        state.withLock { $0 = .idle }
        await listener.emit(.stopped)
        ended?.open()
    }

    private func stopWhenFailed() {
        _ = shared.events.addEventHandler { [weak self, failure = shared.failure] event in
            guard case .failed(let error) = event else { return }
            failure.withLock { $0 = error }
            Task { await self?.stop(reason: "the service has failed") }
        }
    }

    /// Waits until the service has stopped, or the task is cancelled.
    ///
    /// - Throws: why it could not go on, if it stopped by itself.
    package func waitUntilStopped() async throws(ElementalError) {
        await ended?.wait()
        if let failure = shared.failure.withLock({ $0 }) { throw failure }
    }

    /// Opens when the current run has ended; `nil` if there is none.
    var ended: Latch? {
        state.withLock { state in
            switch state {
            case .running(_, _, let ended), .stopping(let ended): ended
            case .idle, .starting: nil
            }
        }
    }
}
