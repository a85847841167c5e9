/// A value of a client that a service's program decides on later. While one exists, the client's pings over TCP are not
/// answered, so that a client that pings behind a value learns of its refusal.
public final class PendingDecision: Sendable {
    private let device: ElementalDevice

    fileprivate init(_ device: ElementalDevice) {
        self.device = device
        device.state.withLock { $0.undecided.begin() }
    }

    deinit {
        let pings = device.state.withLock { $0.undecided.end() }
        guard !pings.isEmpty else { return }
        device.outbound.withLock { outbound in
            for ping in pings { _ = ping.withUnsafeBytes { outbound.appendAnswer(.pong, $0) } }
        }
        device.wake()
    }
}

extension ElementalDevice {
    /// Begins a decision on a value that this client has just sent: for a handler that passes the value on, and calls
    /// ``ElementalService/refuse(_:from:_:)`` once it knows that it has to. Release what is returned after that.
    public func beginDecision() -> PendingDecision { PendingDecision(self) }
}
