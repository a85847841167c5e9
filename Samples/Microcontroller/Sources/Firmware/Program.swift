import ElementalMicro
import ThermostatElements

/// The thermostat.
final class Program {
    let service: ElementalService
    private var room = Room()
    private var isHeating = false
    private var quarters: UInt32 = 0
    private var lastStep: UInt32 = 0
    private let history: UnsafeMutableBufferPointer<UInt8> = .allocate(capacity: 24)

    /// - Parameter seed: a number that differs from that of the last start.
    init(seed: UInt32) {
        service = ElementalService(Thermostat.service, displayName: "Kitchen", elements: Thermostat.all, seed: seed)
        history.initialize(repeating: 0)
        start()
        service.relay(Thermostat.target)
        service.relay(Thermostat.mode)
        service.relay(Thermostat.name)
        service.relay(Thermostat.offset)
        service.relay(Thermostat.outside)
        service.relay(Thermostat.band) { band throws(ValueRefusal) in
            guard band.x >= 0, band.y >= 0, band.x <= 5, band.y <= 5 else { throw ValueRefusal("0 to 5 K each") }
            return band
        }
        // The program lives as long as its service.
        service.onValue(of: Thermostat.reset) { [self] _ in room.energy = 0 }
        // Nobody can turn it off any more.
        service.onConnection { [self] isConnected in if !isConnected { isHeating = false } }
    }

    /// The values until a client sets others.
    private func start() {
        try? service.send(20, to: Thermostat.target)
        try? service.send(1, to: Thermostat.mode)
        try? service.send("Kitchen", to: Thermostat.name)
        try? service.send(0, to: Thermostat.offset)
        try? service.send(50, to: Thermostat.outside)
        try? service.send(Vector2(0.25, 0.25), to: Thermostat.band)
        try? tell()
    }

    /// To be called as often as there is time.
    func step(at now: UInt32) {
        while now &- lastStep >= 250 {
            lastStep &+= 250
            quarters &+= 1
            room.pass(isHeating: isHeating, outside: Float(service.value(of: Thermostat.outside) ?? 50) / 10)
            regulate()
            // What finds no room in the queue is told with the next step.
            try? tell()
        }
    }

    private var reading: Float { room.temperature - Float(service.value(of: Thermostat.offset) ?? 0) / 10 }

    private func regulate() {
        guard let mode = service.value(of: Thermostat.mode), mode > 0, service.isConnected else {
            return isHeating = false
        }
        let target = (service.value(of: Thermostat.target) ?? 20) - (mode == 2 ? 3 : 0)
        let band = service.value(of: Thermostat.band) ?? Vector2(0, 0)
        if reading < target - band.x { isHeating = true } else if reading > target + band.y { isHeating = false }
    }

    private func tell() throws(SendError) {
        try service.send(reading, to: Thermostat.temperature)
        if service.value(of: Thermostat.heating) != isHeating {
            try service.send(isHeating, to: Thermostat.heating)
            try service.send(isHeating ? Room.power : 0, to: Thermostat.power)
        }
        guard quarters & 3 == 0 else { return }
        try service.send(quarters / 4, to: Thermostat.uptime)
        try service.send(room.energy, to: Thermostat.energy)
        for position in 1..<history.count { history[position - 1] = history[position] }
        history[history.count - 1] = UInt8(min(max(reading * 2, 0), 255))
        try service.send(bytes: UnsafeRawBufferPointer(history), to: Thermostat.history)
    }
}
