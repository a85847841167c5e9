import ElementalWire
import NIOCore

extension Session {
    /// The time between a client's requests while values carry times.
    private static let clockInterval = TimeAmount.seconds(1)

    /// Begins to exchange times with a peer that is ready and supports this.
    func startClock() {
        guard isReady, isOpen, clock == nil, handshake.hasHello, device.hello?.features.contains(.clock) == true else {
            return
        }
        clock = ClockExchange()
        if device.role == .service { askForTime() }
    }

    /// Queues a client's request. It is dropped if the queue has no room: its answer is not needed then.
    private func askForTime() {
        guard isOpen else { return }
        if !device.isPaused, let request = clock?.request(at: .now, nonce: .random(in: .min ... .max)) {
            queue(request)
        }
        guard clockTimer == nil, wantsTime else { return }
        clockTimer = device.eventLoop.assumeIsolated().scheduleTask(in: Self.clockInterval) { [self] in
            clockTimer = nil
            batch { askForTime() }
        }
    }

    /// Whether another request is needed, now or later.
    private var wantsTime: Bool {
        receiver.table.usesTimes || clock.map { $0.count < ClockExchange.firstCount } ?? false
    }

    func receive(_ frame: ClockFrame) {
        switch frame.kind {
        case .request:
            guard clock != nil else { return receiver.counts.messagesUnknown += 1 }
            // A client that sends requests and reads nothing costs no more than this check.
            guard device.outbound.withLock({ $0.stream.hasRoom(for: ClockFrame.byteCount) }),
                let answer = clock?.answer(frame, at: .now)
            else { return }
            queue(answer)
        case .answer:
            guard clock?.take(frame, at: .now) == true else { return receiver.counts.messagesUnknown += 1 }
            if let count = clock?.count, count < ClockExchange.firstCount { askForTime() }
            if !wantsTime {
                clockTimer?.cancel()
                clockTimer = nil
            }
        }
        guard let clock else { return }
        device.state.withLock { $0.identity.clock = clock.known }
    }

    private func queue(_ frame: ClockFrame) {
        let bytes = frame.wireBytes
        device.outbound.withLock { outbound in bytes.withUnsafeBytes { _ = outbound.appendAnswer(.clock, $0) } }
    }
}
