import ElementalWire

/// What a connection has brought since the main actor looked last: which elements have a new value, and not the values
/// themselves, of which the device has the newest.
struct DeviceArrivals: Sendable {
    /// The elements that have a new value.
    var changed = IdentifierSet()
    /// The elements that are followed now, and may have had a value before.
    var first = IdentifierSet()
    var refusals: [Int8: ValueRefusal] = [:]
    var event: DeviceEvent?
    /// Whether the connection was lost, however briefly.
    var wasLost = false
    /// The attempt to connect whose device is heard. One of an attempt that was given up may still end.
    private var attempt = 0

    mutating func begin(_ attempt: Int) {
        self = DeviceArrivals()
        self.attempt = attempt
    }

    mutating func removeAll() -> DeviceArrivals {
        defer { begin(attempt) }
        return self
    }

    mutating func note(_ event: DeviceEvent, of attempt: Int) {
        guard attempt == self.attempt else { return }
        if case .willReconnect = event { wasLost = true }
        self.event = event
    }
}
