public import ElementalWire

/// A thermostat's elements: this file is compiled into the microcontroller, the Pi and the phone.
public enum Thermostat {
    public static let service = "thermostat"

    public static let temperature = Element<Float>(1, "Temperature", unit: "°C", access: .read, latest: true)
    public static let target = Element<Float>(2, "Target", unit: "°C", range: 5...30, step: 0.5)
    public static let heating = Element<Bool>(3, "Heating", access: .read)
    public static let mode = Element<UInt8>(4, "Mode", choices: [0: "off", 1: "heat", 2: "eco"])
    public static let name = Element<String>(5, "Name")
    /// What the sensor reads too much.
    public static let offset = Element<Int8>(6, "Offset", unit: "0.1 K", range: -50...50)
    /// The weather, which the simulated room loses its heat to.
    public static let outside = Element<Int16>(7, "Outside", unit: "0.1 °C", range: -400...500)
    public static let power = Element<UInt16>(8, "Power", unit: "W", access: .read, latest: true)
    public static let uptime = Element<UInt32>(9, "Uptime", unit: "s", access: .read, latest: true)
    public static let energy = Element<UInt64>(10, "Energy", unit: "J", access: .read, latest: true)
    /// How far below and above the target the heater is turned on and off, in K.
    public static let band = Element<Vector2>(11, "Band")
    /// The readings of the last 24 seconds, the newest last, in half degrees from 0 °C on.
    public static let history = Element<[UInt8]>(12, "History", access: .read, latest: true)
    /// Counts the energy from 0 again.
    public static let reset = Element<Bool>(13, "Reset", access: .write)

    public static let all: ElementCatalogue = [
        temperature, target, heating, mode, name, offset, outside, power, uptime, energy, band, history, reset,
    ]
}
