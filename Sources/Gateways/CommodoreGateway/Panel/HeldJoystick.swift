/// A joystick that several clients move: the newest value counts, and a client that leaves releases what it pressed.
struct HeldJoystick<Client: Hashable> {
    /// The closed switches.
    private(set) var switches: UInt8 = 0
    private(set) var moves = 0
    /// The switches that each client closed and that have stayed closed since.
    private var held: [Client: UInt8] = [:]

    mutating func set(_ value: UInt8, by client: Client) {
        let pressed = value & ~switches
        note(value)
        if pressed != 0 { held[client, default: 0] |= pressed }
        moves += 1
    }

    /// Stores the position in which the joystick was found.
    mutating func note(_ value: UInt8) {
        switches = value
        held = held.mapValues { $0 & value }.filter { $0.value != 0 }
    }

    /// - Returns: whether that changed anything.
    mutating func release(_ client: Client) -> Bool {
        guard let own = held.removeValue(forKey: client) else { return false }
        switches &= ~own
        moves += 1
        return true
    }
}
