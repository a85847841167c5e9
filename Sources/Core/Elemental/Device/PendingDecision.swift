/// A pending decision of a service's program on a client's value. While one exists, the client's pings over TCP are not
/// answered, so that a client that pings after a value receives the refusal before the answer.
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
    /// Begins a decision on a value that this client has just sent.
    ///
    /// For a handler that forwards the value and may later have to call ``ElementalService/refuse(_:from:_:)``. Release
    /// the returned object after the decision.
    public func beginDecision() -> PendingDecision { PendingDecision(self) }
}
