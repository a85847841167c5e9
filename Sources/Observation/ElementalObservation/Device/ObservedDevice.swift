import ElementalWire
import Support

/// A service's elements, and the connection to it, as values that a view can bind to.
///
/// ```swift
/// let lamp = ObservedDevice(service, as: "Rob's iPhone", elements: Lamp.all)
/// lamp[Lamp.brightness] = 0.8                     // in a view: Slider(value: $lamp[Lamp.brightness, default: 0])
/// ```
/// It connects when it is first read or written, restores a lost connection, and closes it when it is released. A view
/// that reads one element is invalidated only by that element, and at most once per display frame.
@MainActor
@Observable
public final class ObservedDevice {
    /// The service's instance name, or the host and port.
    @ObservationIgnored public let name: String
    /// How often the model changes.
    @ObservationIgnored public let pace: ObservationPace

    private var currentState = State.connecting
    private var currentStatistics = DeviceStatistics()
    private var currentElements: ElementCatalogue

    @ObservationIgnored let inbox: Inbox<DeviceArrivals>
    // Both end with the model, whose `deinit` may run on any thread.
    @ObservationIgnored private let held = Locked<ElementalDevice?>(nil)
    @ObservationIgnored private let connecting = Locked<Task<Void, Never>?>(nil)
    @ObservationIgnored var cells: [Int8: ElementCell] = [:]
    @ObservationIgnored var series: [WeakSeries] = []
    /// Whether values are in flight that the service has not handled yet.
    @ObservationIgnored var isRoundUnderWay = false
    /// Shows the service's values in controls that rest by then.
    @ObservationIgnored var settling: Task<Void, Never>?
    @ObservationIgnored var writeCount = 0
    @ObservationIgnored private var hasBegun = false
    /// The number of the last attempt to connect that the program requested.
    @ObservationIgnored private var attempt = 0
    @ObservationIgnored private var isEnding = false
    /// Whether to connect again after the end.
    @ObservationIgnored private var isWantedAgain = false
    @ObservationIgnored private var measuring: Task<Void, Never>?
    /// How long a service may take to answer after the program resumes.
    @ObservationIgnored var answerTime = Duration.seconds(2)

    @ObservationIgnored let place: ServicePlace
    @ObservationIgnored let clientName: String
    @ObservationIgnored let ownElements: ElementCatalogue?
    @ObservationIgnored let options: ConnectOptions

    /// Creates a model of a discovered service.
    ///
    /// - Parameters:
    ///   - service: the service, from ``ObservedBrowser/services`` or an `ElementalBrowser`.
    ///   - name: this client's name in the service's list; not empty.
    ///   - elements: the elements that both ends share; `nil` to use those that the service announces.
    ///   - options: timeouts, security, and when to reconnect. Without a policy the model reconnects for ever, first at
    ///     once and then every 2 s; `ListedDelays([])` disables reconnecting.
    ///   - pace: how often the model changes.
    public convenience init(
        _ service: DiscoveredService, as name: String, elements: ElementCatalogue? = nil,
        options: ConnectOptions = ConnectOptions(), pace: ObservationPace = ObservationPace()
    ) {
        self.init(.found(service), service.name, as: name, elements, options, pace)
    }

    /// Creates a model of a service by host and port, without Zeroconf.
    ///
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: the service's port for TCP and UDP.
    ///   - name: this client's name in the service's list; not empty.
    ///   - elements: the elements that both ends share; `nil` to use those that the service announces.
    ///   - options: as for a discovered service.
    ///   - pace: how often the model changes.
    public convenience init(
        host: String, port: Int, as name: String, elements: ElementCatalogue? = nil,
        options: ConnectOptions = ConnectOptions(), pace: ObservationPace = ObservationPace()
    ) {
        let place = ServicePlace.address(host: host, port: port)
        self.init(place, place.target, as: name, elements, options, pace)
    }

    private init(
        _ place: ServicePlace, _ name: String, as clientName: String, _ elements: ElementCatalogue?,
        _ options: ConnectOptions, _ pace: ObservationPace
    ) {
        self.place = place
        self.name = name
        self.clientName = clientName
        ownElements = elements
        var options = options
        options.reconnection = options.reconnection ?? .forever(every: .seconds(2))
        self.options = options
        self.pace = pace
        currentElements = elements ?? []
        inbox = Inbox(DeviceArrivals(), frame: pace.frame)
        inbox.onArrival { [weak self] in
            Task { @MainActor in self?.frame() }
        }
    }

    deinit { close() }

    private nonisolated func close() {
        connecting.withLock { $0 }?.cancel()
        held.withLock { $0 }?.disconnect()
    }

    // MARK: What views read

    /// The state of the connection.
    public var state: State {
        begin()
        return currentState
    }

    /// The elements: those given to the initializer, otherwise those that the service announced.
    public var elements: ElementCatalogue {
        begin()
        return currentElements
    }

    /// The traffic since the first connection, updated every ``ObservationPace/statistics`` from the first read on.
    public var statistics: DeviceStatistics {
        begin()
        measure()
        return currentStatistics
    }

    /// The device, for functions that the model does not have; `nil` before the first connection.
    public var device: ElementalDevice? { held.withLock { $0 } }

    /// The state, without observing it: a view that reads an element does not depend on it.
    var now: State { _currentState }

    /// The elements, without observing them.
    var catalogue: ElementCatalogue { _currentElements }

    func begin() {
        if !hasBegun { connect() }
    }

    // MARK: Connecting

    /// Connects for the first time, which happens by itself when the model is used, or again after an end. A model that
    /// is reconnecting makes its next attempt at once; a connected one does nothing.
    public func connect() {
        // A closing connection has to be closed before the next one opens.
        if isEnding { return isWantedAgain = true }
        switch now {
        case .connected: return
        case .connecting: if hasBegun { return }
        case .reconnecting: break
        case .ended, .failed: currentState = .connecting
        }
        hasBegun = true
        attempt += 1
        if device == nil { inbox.look { $0.begin(attempt) } }
        let task = Task { [weak self, attempt, device, place, clientName, ownElements, options, inbox] in
            do {
                if let device {
                    try await device.reconnect()
                    guard let self, attempt == self.attempt else { return }
                    noteConnected(device)
                } else {
                    let device = try await place.connect(as: clientName, elements: ownElements, options: options) {
                        ObservedDevice.observe($0, attempt, inbox)
                    }
                    guard let self, attempt == self.attempt else { return device.disconnect() }
                    held.withLock { $0 = device }
                    noteConnected(device)
                }
            } catch {
                self?.noteFailed(error, attempt)
            }
        }
        connecting.withLock { $0 = task }
    }

    /// Ends the connection until ``connect()`` is called. Values that the service has not handled are put back.
    public func disconnect() {
        hasBegun = true
        isWantedAgain = false
        if isEnding { return }
        // An event reports the end.
        if let device, device.disconnectReason == nil {
            isEnding = true
            return device.disconnect()
        }
        guard case .connecting = now else { return }
        attempt += 1
        close()
        end(.ended(DisconnectReason(.closedHere, isExpected: true)))
    }

    /// Call it when the program comes back from the background. Takes what has arrived, checks that the service still
    /// answers, and otherwise connects again at once. A model that the program has disconnected stays disconnected.
    public func resume() {
        guard hasBegun else { return }
        takeArrivals()
        switch now {
        case .connecting: return
        case .reconnecting, .failed: connect()
        case .ended(let reason): if reason.kind != .closedHere { connect() }
        case .connected:
            guard let device, device.hello?.features.contains(.ping) == true else { return }
            Task { [weak self, answerTime] in
                guard (try? await device.ping(timeout: answerTime)) == nil, device.isConnected,
                    let self, !isEnding
                else { return }
                (isEnding, isWantedAgain) = (true, true)
                device.disconnect()
            }
        }
    }

    /// Registers the handlers of a device. Runs on the event loop.
    private nonisolated static func observe(
        _ device: ElementalDevice, _ attempt: Int, _ inbox: Inbox<DeviceArrivals>
    ) {
        device.onEvent { event in inbox.put { $0.note(event, of: attempt) } }
        device.onRefusal { element, refusal, _ in inbox.put { $0.refusals[element.id] = refusal } }
    }

    /// Handles the first connection of a device, or one after an end.
    private func noteConnected(_ device: ElementalDevice) {
        for cell in cells.values where !cell.isFollowed { follow(cell, device) }
        followSeries(device)
        takeArrivals()
        // If the connection is lost again, an event reports it.
        guard device.isConnected, !now.isConnected else { return }
        noteConnection(device)
    }

    private func noteConnection(_ device: ElementalDevice) {
        currentState = .connected
        noteElements(of: device)
        // The service first sends its current values, which are older than any value sent now.
        beginRound(device, isConnection: true)
    }

    /// Updates the elements. A service's own may arrive after the connection is open.
    func noteElements(of device: ElementalDevice) {
        let elements = ownElements ?? device.knownElements
        guard elements != catalogue else { return }
        currentElements = elements
        for cell in cells.values {
            let definition = definition(of: cell.definition)
            if definition != cell.definition { cell.redefine(definition, device.value(of: definition)) }
        }
    }

    private func noteFailed(_ error: any Error, _ attempt: Int) {
        guard attempt == self.attempt else { return }
        // A device that was connected before reports its state itself.
        if let device, device.disconnectReason == nil { return }
        takeArrivals()
        let error =
            error as? ElementalError
            ?? ElementalError(.connectionFailed, "cannot connect to '\(name)'", cause: error)
        end(.failed(error))
    }

    private func end(_ state: State) {
        currentState = state
        let error = Self.ended(state)
        for cell in cells.values { cell.noteEnded(error) }
    }

    static func ended(_ state: State) -> ElementalError {
        ElementalError(.notConnected, "not connected: \(state)")
    }

    // MARK: What arrives

    private func frame() {
        // Arrivals before the model has the device stay in the inbox.
        let hasDevice = device != nil
        handle(inbox.take { hasDevice ? $0.removeAll() : DeviceArrivals() })
    }

    func takeArrivals() {
        if device != nil { handle(inbox.look { $0.removeAll() }) }
    }

    private func handle(_ arrivals: DeviceArrivals) {
        guard let device else { return }
        if arrivals.wasLost { for cell in cells.values { cell.noteLost() } }
        arrivals.first.forEach { noteSaid($0, by: device, isNews: false) }
        arrivals.changed.forEach { noteSaid($0, by: device) }
        // Handled after the values, so that the value that follows a refusal is shown at once.
        for (id, refusal) in arrivals.refusals { cells[id]?.noteRefused(refusal) }
        switch arrivals.event {
        case nil: break
        case .willReconnect(let attempt, let delay): currentState = .reconnecting(attempt, delay: delay)
        case .didReconnect: noteConnection(device)
        case .disconnected(let reason):
            let isWanted = isWantedAgain
            (isEnding, isWantedAgain) = (false, false)
            if isWanted {
                for cell in cells.values { cell.noteLost() }
                currentState = .ended(reason)
                connect()
            } else {
                end(.ended(reason))
            }
        }
    }

    func noteSaid(_ id: Int8, by device: ElementalDevice, isNews: Bool = true) {
        if let cell = cells[id] { cell.noteSaid(device.value(of: cell.definition), isNews: isNews) }
    }

    private func measure() {
        guard measuring == nil else { return }
        readStatistics()
        measuring = Task { [weak self] in
            while let interval = self?.pace.statistics {
                await Delay.wait(max(interval, .milliseconds(1)))
                self?.readStatistics()
            }
        }
    }

    private func readStatistics() {
        guard let statistics = device?.statistics, statistics != _currentStatistics else { return }
        currentStatistics = statistics
    }
}
