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

extension ElementalDevice {
    /// A service begins to decide on a value of this client.
    func beginDecision() { state.withLock { $0.undecided.begin() } }

    /// A service has decided on a value, or drops it for a newer one.
    func endDecision() {
        let pings = state.withLock { $0.undecided.end() }
        guard !pings.isEmpty else { return }
        outbound.withLock { outbound in
            for ping in pings { _ = ping.withUnsafeBytes { outbound.appendAnswer(.pong, $0) } }
        }
        wake()
    }
}
