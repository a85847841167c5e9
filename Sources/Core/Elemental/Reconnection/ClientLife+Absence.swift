import NIOCore

extension ClientLife {
    /// The connection was lost and another is to take its place.
    func beginAbsence(_ device: ElementalDevice, _ reason: DisconnectReason) {
        guard let policy = connector.options.reconnection else { return }
        phase = .away
        if let service = connector.service { look(for: service, named: connector.peerName) }
        let now = ContinuousClock.now
        if reconnection?.isSettled(at: now) == false {
            return proceed(after: Self.error(ofBriefConnection: reason, device))
        }
        reconnection = Reconnection(policy, after: reason, at: now)
        proceed(after: nil)
    }

    /// The absence is over, one way or the other.
    func endAbsence() {
        timer?.cancel()
        timer = nil
        watch = nil
        reconnection?.succeed(at: .now)
    }

    func proceed(after error: ElementalError?) {
        perform(reconnection?.proceed(after: error, at: .now))
    }

    /// Makes the next attempt now.
    func hurry() { perform(reconnection?.hurry(hasMoved: false)) }

    private func perform(_ action: Reconnection.Action?) {
        guard let action, let device else { return }
        timer?.cancel()
        timer = nil
        switch action {
        case .wait(let attempt, let delay):
            device.eventHub.emit(.willReconnect(attempt, delay: delay))
            timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [self] in
                perform(reconnection?.begin())
            }
        case .attempt:
            let owner = current
            current = nil
            owner?.abandon()
            open()
        case .giveUp:
            if let reason = reconnection?.reason { end(reason) }
        }
    }

    private static func error(
        ofBriefConnection reason: DisconnectReason, _ device: ElementalDevice
    ) -> ElementalError {
        if case .shutDown = reason.kind { return ClientOwner.error(reason, device) }
        return ElementalError(.connectionFailed, "the connection to \(device) was lost again: \(reason)")
    }

    /// Follows the service by Zeroconf until the absence is over.
    private func look(for service: String, named name: String) {
        var sightings = ServiceSightings(name, known: endpoint, at: .now)
        watch = ServiceWatch(service, logger: connector.logger, on: eventLoop) { [weak self] event in
            guard let self, phase == .away, let sighting = sightings.take(event, at: .now) else { return }
            endpoint = sighting.service.endpoint
            sighted = sighting.service
            if sighting.isReturn { perform(reconnection?.hurry(hasMoved: sighting.hasMoved)) }
        }
    }
}
