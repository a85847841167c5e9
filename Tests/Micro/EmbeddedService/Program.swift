import ElementalMicro

/// The program of the device: what it does with its elements.
final class Program {
    let service: ElementalService
    private var seconds: UInt32 = 0
    private var lastSecond: UInt32 = 0

    init(seed: UInt32) {
        service = ElementalService("thermostat", displayName: "Kitchen", elements: Thermostat.all, seed: seed)
        service.relay(Thermostat.target)
        service.relay(Thermostat.mode)
        service.relay(Thermostat.offset)
        service.relay(Thermostat.setpoint) { value throws(ValueRefusal) in
            guard value != 13 else { throw ValueRefusal("not on a Friday") }
            return value
        }
        service.onBytes(of: Thermostat.label) { [service] bytes in
            try? service.send(bytes: bytes, to: Thermostat.label)
        }
        service.onBytes(of: Thermostat.blob) { [service] bytes in
            try? service.send(bytes: bytes, to: Thermostat.blob)
        }
        service.onValue(of: Thermostat.reset) { [service] _ in
            try? service.send(0, to: Thermostat.energy)
        }
    }

    /// What the board calls as often as it has time.
    func step(at now: UInt32) {
        guard now &- lastSecond >= 1000 else { return }
        lastSecond = now
        // What the queue has no room for is set again a second later.
        try? second()
    }

    func second() throws(SendError) {
        seconds += 1
        try service.send(seconds, to: Thermostat.uptime)
        try service.send(Float(15 + seconds & 7), to: Thermostat.temperature)
        try service.send(UInt8(40 + seconds & 15), to: Thermostat.humidity)
        try service.send(seconds & 1 == 0, to: Thermostat.heating)
        try service.send(UInt16(seconds & 2047), to: Thermostat.fan)
        try service.send(UInt64(seconds) * 100, to: Thermostat.energy)
        try service.send(Int16(truncatingIfNeeded: seconds), to: Thermostat.trend)
        try service.send(1013.25, to: Thermostat.pressure)
        try service.send(Vector3(Float(seconds), 0, 1), to: Thermostat.motion)
    }
}
