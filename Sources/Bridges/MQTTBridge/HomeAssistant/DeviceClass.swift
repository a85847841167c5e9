/// Home Assistant's device class of a measurement, which determines icon, conversion and statistics.
///
/// The table has only units that belong to a single class: Home Assistant refuses an entity whose unit does not fit its
/// class, and `%` may be humidity, battery or anything else. From Home Assistant's table DEVICE_CLASS_UNITS (2026.2).
enum DeviceClass {
    private static let units: [(name: String, units: [String])] = [
        ("temperature", ["°C", "°F"]),
        ("current", ["A", "mA"]),
        ("voltage", ["V", "mV", "kV"]),
        ("power", ["W", "kW", "mW"]),
        ("apparent_power", ["VA"]),
        ("frequency", ["Hz", "kHz", "MHz", "GHz"]),
        ("illuminance", ["lx"]),
        ("irradiance", ["W/m²"]),
        ("signal_strength", ["dBm"]),
        ("sound_pressure", ["dBA"]),
        // With both characters for micro.
        ("duration", ["s", "ms", "\u{B5}s", "\u{3BC}s", "min", "h", "d"]),
        ("distance", ["m", "km", "ft", "mi"]),
        ("weight", ["g", "kg", "lb"]),
        ("data_size", ["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"]),
        ("data_rate", ["B/s", "kB/s", "MB/s", "GB/s", "kbit/s", "Mbit/s", "Gbit/s", "KiB/s", "MiB/s", "GiB/s"]),
        ("volume_flow_rate", ["L/min", "m³/h"]),
        ("area", ["m²"]),
        ("conductivity", ["\u{B5}S/cm", "\u{3BC}S/cm"]),
    ]

    private static let classes = Dictionary(
        uniqueKeysWithValues: units.flatMap { name, units in units.map { ($0, name) } })

    static func of(unit: String) -> String? { classes[unit] }
}
