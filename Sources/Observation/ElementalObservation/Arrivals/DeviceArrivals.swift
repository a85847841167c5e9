import ElementalWire

/// What has arrived on a connection since the main actor last took it: which elements have a new value. The values
/// themselves stay in the device, which has the newest.
struct DeviceArrivals: Sendable {
    /// The elements that have a new value.
    var changed = IdentifierSet()
    /// The elements that are followed from now on, and may already have a value.
    var first = IdentifierSet()
    var refusals: [Int8: ValueRefusal] = [:]
    var event: DeviceEvent?
    /// Whether the connection was lost, however briefly.
    var wasLost = false
    /// The attempt to connect whose device is current. The device of an abandoned attempt may still report its end.
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
