import Elemental
import ElementalWire

/// The values that the device was sent and may still refuse, until it has answered a ping that was sent behind them.
struct UnconfirmedValues {
    /// The most that are remembered. Who sets more within a round trip is not told of refusals of the rest.
    static let maximumCount = 1024

    /// Those in front of the ping that is under way, and those behind it.
    private var confirming: [SetValue] = []
    private var waiting: [SetValue] = []
    /// The number of the ping that is under way.
    private var ping: UInt64?
    private var lastPing: UInt64 = 0

    mutating func add(_ item: SetValue) {
        if confirming.count + waiting.count < Self.maximumCount { waiting.append(item) }
    }

    /// Whether a ping is to be sent.
    var needsPing: Bool { ping == nil && !waiting.isEmpty }

    /// A ping is being sent.
    ///
    /// - Returns: its number.
    mutating func beginPing() -> UInt64 {
        lastPing += 1
        ping = lastPing
        confirming = waiting
        waiting = []
        return lastPing
    }

    /// The device has answered a ping.
    ///
    /// - Returns: the values that it did not refuse.
    mutating func answered(_ number: UInt64) -> [SetValue] {
        guard number == ping else { return [] }
        ping = nil
        defer { confirming = [] }
        return confirming
    }

    /// The device has refused a value of the element: any of those that it was sent.
    ///
    /// - Returns: what that may have been.
    mutating func refused(_ id: Int8) -> [SetValue] {
        let items = (confirming + waiting).filter { $0.element.id == id }
        confirming.removeAll { $0.element.id == id }
        waiting.removeAll { $0.element.id == id }
        return items
    }

    /// Forgets all, at the end of a session.
    ///
    /// - Returns: what was not confirmed.
    mutating func removeAll() -> [SetValue] {
        defer { self = UnconfirmedValues() }
        return confirming + waiting
    }
}

/// A value for the device.
struct SetValue {
    let element: ElementDefinition
    let value: ElementValue
    /// The client that set it; `nil` for the gateway, which restores it.
    let client: ElementalDevice?
    /// Until the device has had the time to refuse it.
    var decision: PendingDecision?

    /// The bytes of its frame.
    var frameByteCount: Int { Envelope.streamByteCount + value.wireByteCount }
}
