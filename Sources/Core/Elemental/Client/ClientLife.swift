import NIOCore

/// A client's device through its life, on its event loop: its connections, one after the other, and what is between them.
///
/// It keeps the device while there is a connection or one is to come, and lets it go at rest.
final class ClientLife {
    enum Phase {
        /// There is no connection, and none is to come.
        case atRest
        /// The program waits for a connection: the first one, or one after the end.
        case connecting
        case connected
        /// The connection was lost. An attempt is under way or waits for its time.
        case away
    }

    let connector: Connector
    let eventLoop: any EventLoop
    var phase = Phase.atRest
    /// `nil` at rest.
    var device: ElementalDevice?
    /// The connection that is there or is coming about.
    var current: ClientOwner?
    /// Where the service was last.
    var endpoint: Connector.Endpoint
    /// What Zeroconf told last of the service; `nil` if it did not since the first connection.
    var sighted: DiscoveredService?
    /// Those who wait for a connection.
    private var waits: [ConnectionWait] = []
    private var isConfigured = false
    /// Whether this program has closed the connection, whose end is still to come.
    private var isClosing = false

    var reconnection: Reconnection?
    var timer: Scheduled<Void>?
    var watch: ServiceWatch?

    init(_ connector: Connector, on eventLoop: any EventLoop) {
        self.connector = connector
        self.eventLoop = eventLoop
        endpoint = connector.endpoint
    }

    // MARK: What the program asks for

    func connect(_ device: ElementalDevice, _ wait: ConnectionWait) {
        if wait.isCancelled { return wait.answer(.failure(Self.cancelled)) }
        // Not connected any more, although it counts as such: its end is near, and with it the answer.
        if phase == .connected, device.isConnected { return wait.answer(.success(())) }
        waits.append(wait)
        switch phase {
        case .atRest:
            phase = .connecting
            self.device = device
            open()
        case .away: hurry()
        case .connecting, .connected: break
        }
    }

    /// Nobody waits any more for that answer.
    func cancel(_ wait: ConnectionWait) {
        if let position = waits.firstIndex(where: { $0 === wait }) {
            waits.remove(at: position).answer(.failure(Self.cancelled))
        } else if !wait.closesWhenCancelled {
            return
        }
        let reason = DisconnectReason(.cancelled, isExpected: true)
        if wait.closesWhenCancelled || (phase == .connecting && waits.isEmpty) { disconnect(reason) }
    }

    /// Ends what there is: a connection in order, everything else at once.
    func disconnect(_ reason: DisconnectReason) {
        switch phase {
        case .atRest: break
        case .connecting: rest(Self.cancelled)
        case .connected:
            isClosing = true
            current?.close(reason)
        case .away: end(reason)
        }
    }

    // MARK: What becomes of a connection

    /// Makes an attempt.
    func open() {
        guard let device else { return }
        let owner = ClientOwner(self)
        current = owner
        let saysHello = sighted?.saysHello ?? (connector.options.expectsHello || device.hello != nil)
        connector.open(endpoint, for: device, expectsHello: saysHello, owner: owner)
    }

    /// Whether the device outlives a connection that ends for that reason.
    func outlives(_ owner: ClientOwner, _ reason: DisconnectReason) -> Bool {
        owner === current && phase == .connected && !isClosing && connector.options.reconnection != nil
            && reason.allowsReconnection
    }

    func connectionIsReady(_ owner: ClientOwner, _ session: Session) {
        guard owner === current, let device else { return }
        phase = .connected
        if isConfigured {
            endAbsence()
            if !session.handshake.hasHello {
                device.identity.withLock { identity in
                    identity.hello = nil
                    identity.catalogue = nil
                }
            }
            device.reopen()
            device.eventHub.emit(.didReconnect)
        } else {
            isConfigured = true
            connector.configure(device)
        }
        answer(.success(()))
    }

    func connectionFailed(_ owner: ClientOwner, _ error: ElementalError) {
        guard owner === current else { return }
        current = nil
        if phase == .away { proceed(after: error) } else { rest(error) }
    }

    func connectionEnded(_ owner: ClientOwner, _ session: Session, _ reason: DisconnectReason) {
        guard owner === current, let device else { return }
        let isOutlived = outlives(owner, reason)
        current = nil
        switch phase {
        case .atRest: break
        case .connecting: rest(ClientOwner.error(reason, device))
        case .connected where isOutlived: beginAbsence(device, reason)
        case .connected: end(reason)
        case .away where reason.allowsReconnection: proceed(after: ClientOwner.error(reason, device))
        case .away: end(reason)
        }
    }

    // MARK: The end

    /// The device is over.
    func end(_ reason: DisconnectReason) {
        let device = device
        let error = ElementalError(.notConnected, "the connection has ended: \(reason)")
        rest(error)
        device?.end(reason)
    }

    /// Lets everything go.
    private func rest(_ error: ElementalError) {
        phase = .atRest
        isClosing = false
        endAbsence()
        reconnection = nil
        let owner = current
        current = nil
        owner?.abandon()
        device = nil
        answer(.failure(error))
    }

    private func answer(_ result: Result<Void, ElementalError>) {
        let answered = waits
        waits = []
        for wait in answered { wait.answer(result) }
    }

    private static var cancelled: ElementalError { ElementalError(.cancelled, "connecting was cancelled") }
}
