import ElementalWire

/// A client's values that a service has not decided on yet, and the pings that came behind them. Their answers tell the
/// client that it knows all refusals.
struct UndecidedValues {
    /// The most pings that wait. Further ones are answered at once.
    static let maximumPingCount = 16

    private var count = 0
    private var pings: [[UInt8]] = []

    mutating func begin() { count += 1 }

    /// - Returns: the pings to answer now.
    mutating func end() -> [[UInt8]] {
        count -= 1
        guard count == 0 else { return [] }
        defer { pings = [] }
        return pings
    }

    /// Keeps a ping if values before it are undecided. A heartbeat, which is all zeros, does not wait.
    ///
    /// - Returns: whether it is kept.
    mutating func keep(_ ping: UnsafeRawBufferPointer) -> Bool {
        guard count > 0, pings.count < Self.maximumPingCount, ping.contains(where: { $0 != 0 }) else { return false }
        pings.append([UInt8](ping))
        return true
    }
}

/// A value of a client that a service's program decides on later. While one exists, the client's pings over TCP are not
/// answered, so that `elemental set` and others that ping behind a value learn of its refusal.
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
