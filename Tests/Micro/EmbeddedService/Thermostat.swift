import ElementalMicro

/// The elements of a device with 16 of them, of most types.
enum Thermostat {
    static let target = Element<Float>(1, "Target", unit: "°C", range: 5...30, step: 0.5)
    static let temperature = Element<Float>(2, "Temperature", unit: "°C", access: .read, latest: true)
    static let humidity = Element<UInt8>(3, "Humidity", unit: "%", range: 0...100, access: .read, latest: true)
    static let heating = Element<Bool>(4, "Heating", access: .read)
    static let mode = Element<UInt8>(5, "Mode", range: 0...2)
    static let fan = Element<UInt16>(6, "Fan", unit: "rpm", range: 0...3000, access: .read)
    static let uptime = Element<UInt32>(7, "Uptime", unit: "s", access: .read, latest: true)
    static let energy = Element<UInt64>(8, "Energy", unit: "J", access: .read)
    static let offset = Element<Int8>(9, "Offset", range: -5...5)
    static let trend = Element<Int16>(10, "Trend", access: .read)
    static let setpoint = Element<Int32>(11, "Setpoint")
    static let pressure = Element<Double>(12, "Pressure", unit: "hPa", access: .read)
    static let motion = Element<Vector3>(13, "Motion", access: .read, latest: true)
    static let label = Element<String>(14, "Label")
    static let blob = Element<[UInt8]>(15, "Blob")
    static let reset = Element<Bool>(16, "Reset", access: .write)
    static let all: ElementCatalogue = [
        target, temperature, humidity, heating, mode, fan, uptime, energy, offset, trend, setpoint, pressure, motion,
        label, blob, reset,
    ]
}
