import Elemental
import ElementalWire
import SerialLines

/// The values that were sent to the device and that it may still refuse, until it has answered a ping that was sent
/// after them.
struct UnconfirmedValues {
    /// Refusals beyond this number are not reported.
    static let maximumCount = 1024

    private var items: [SetValue] = []
    /// How many of ``items`` were sent before the unanswered ping; `nil` if no ping is unanswered.
    private var confirmingCount: Int?
    private var lastPing: UInt64 = 0

    mutating func add(_ item: SetValue) { if items.count < Self.maximumCount { items.append(item) } }

    var needsPing: Bool { confirmingCount == nil && !items.isEmpty }

    /// - Returns: the number of the ping that is being sent.
    mutating func beginPing() -> UInt64 {
        lastPing += 1
        confirmingCount = items.count
        return lastPing
    }

    /// - Returns: the values that the device did not refuse.
    mutating func answered(_ number: UInt64) -> [SetValue] {
        guard number == lastPing, let count = confirmingCount else { return [] }
        confirmingCount = nil
        defer { items.removeFirst(count) }
        return Array(items.prefix(count))
    }

    /// - Returns: the unconfirmed values of the element, any of which the device may have refused.
    mutating func refused(_ id: Int8) -> [SetValue] {
        let refused = items.filter { $0.element.id == id }
        confirmingCount = confirmingCount.map { items.prefix($0).count { $0.element.id != id } }
        items.removeAll { $0.element.id == id }
        return refused
    }

    /// - Returns: the values that were not confirmed.
    mutating func removeAll() -> [SetValue] {
        defer { self = UnconfirmedValues() }
        return items
    }
}

struct SetValue: LineQueueItem {
    let element: ElementDefinition
    let value: ElementValue
    /// The client that set it; `nil` for the gateway, which restores it.
    let client: ElementalDevice?
    /// Kept until the device can no longer refuse the value.
    var decision: PendingDecision?

    var latest: Int8? { element.latest ? element.id : nil }
    var byteCount: Int { Envelope.streamByteCount + value.wireByteCount }
}
