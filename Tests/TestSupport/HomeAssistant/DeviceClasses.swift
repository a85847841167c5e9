import Foundation

/// Home Assistant's device classes of sensors and numbers, and which units each of them takes.
enum DeviceClasses {
    private static let pressure: Set<String?> = [
        "mPa", "Pa", "hPa", "kPa", "bar", "cbar", "mbar", "mmHg", "inHg", "inH₂O", "psi",
    ]
    private static let energy: Set<String?> = [
        "J", "kJ", "MJ", "GJ", "mWh", "Wh", "kWh", "MWh", "GWh", "TWh", "cal", "kcal", "Mcal", "Gcal",
    ]
    private static let volume: Set<String?> = ["mL", "L", "m³", "ft³", "CCF", "MCF", "fl. oz.", "gal"]
    private static let speed: Set<String?> = [
        "Beaufort", "ft/s", "in/s", "m/min", "m/s", "km/h", "kn", "mph", "mm/s",
    ]
    private static let rain: Set<String?> = ["in/d", "in/h", "mm/d", "mm/h"]
    private static let gas: Set<String?> = ["L", "m³", "ft³", "CCF", "MCF"]
    private static let temperature: Set<String?> = ["°C", "°F", "K"]

    /// The units that a class takes; `nil` among them for none. Both signs for micro are taken everywhere.
    static let units: [String: Set<String?>] = special.merging(
        plain.flatMap { names, units in names.map { ($0, units) } }, uniquingKeysWith: { $1 })

    /// Classes that take the same.
    private static let plain: [([String], Set<String?>)] = [
        // Texts and times have no unit.
        (["aqi", "ph", "date", "enum", "timestamp"], [nil]), (["battery", "humidity", "moisture"], ["%"]),
        (["nitrogen_dioxide", "ozone", "pm1", "pm10", "pm25", "sulphur_dioxide"], ["μg/m³"]),
        (["temperature", "temperature_delta"], temperature), (["energy", "energy_storage"], energy),
        (["pressure", "atmospheric_pressure"], pressure), (["volume", "volume_storage"], volume),
    ]

    private static let special: [String: Set<String?>] = [
        "apparent_power": ["mVA", "VA", "kVA"],
        "area": ["m²", "cm²", "km²", "mm²", "in²", "ft²", "yd²", "mi²", "ac", "ha"],
        "carbon_dioxide": ["ppm"],
        "carbon_monoxide": ["ppm", "mg/m³"],
        "conductivity": ["S/cm", "μS/cm", "mS/cm"],
        "current": ["A", "mA"],
        "data_rate": [
            "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "B/s", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s",
        ],
        "data_size": [
            "bit", "kbit", "Mbit", "Gbit", "B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB", "KiB", "MiB", "GiB",
            "TiB", "PiB", "EiB", "ZiB", "YiB",
        ],
        "distance": ["mm", "cm", "m", "km", "in", "ft", "yd", "mi", "nmi"],
        "duration": ["d", "h", "min", "s", "ms", "μs"],
        "frequency": ["Hz", "kHz", "MHz", "GHz"],
        "gas": gas,
        "illuminance": ["lx"],
        "irradiance": ["W/m²", "BTU/(h⋅ft²)"],
        "power": ["mW", "W", "kW", "MW", "GW", "TW", "BTU/h"],
        "power_factor": ["%", nil],
        "precipitation": ["cm", "in", "mm"],
        "precipitation_intensity": rain,
        "reactive_power": ["mvar", "var", "kvar"],
        "signal_strength": ["dB", "dBm"],
        "sound_pressure": ["dB", "dBA"],
        "speed": speed.union(rain),
        "volatile_organic_compounds": ["μg/m³", "mg/m³"],
        "volatile_organic_compounds_parts": ["ppm", "ppb"],
        "voltage": ["V", "mV", "μV", "kV", "MV"],
        "volume_flow_rate": [
            "m³/h", "m³/min", "m³/s", "L/h", "L/min", "L/s", "mL/s", "ft³/min", "gal/min", "gal/d",
        ],
        "water": gas.union(["gal"]),
        "weight": ["g", "kg", "mg", "μg", "oz", "lb", "st"],
        "wind_direction": ["°"],
        "wind_speed": speed,
    ]

    /// Those whose states are no numbers.
    static let withoutNumbers: Set<String> = ["date", "enum", "timestamp"]

    /// Those that only count up or add up, and are no measurement at a time.
    static let totals: Set<String> = ["energy", "gas", "volume", "water"]

    static func takes(_ name: String, unit: String?) -> Bool {
        units[name]?.contains(unit?.replacingOccurrences(of: "\u{b5}", with: "\u{3bc}")) == true
    }

    /// Whether a unit belongs to several classes, so that a class that follows from it alone may be the wrong one.
    static func isAmbiguous(_ unit: String) -> Bool {
        // Those of a temperature are also those of a difference, which is no mistake.
        guard !takes("temperature", unit: unit) else { return false }
        return misleading.contains(unit) || classes(of: unit).count > 1
    }

    static func classes(of unit: String) -> [String] { units.keys.filter { takes($0, unit: unit) } }

    /// Units with one class only, that for something special: an angle is hardly that of the wind.
    private static let misleading: Set<String> = ["°"]

    static let ofBinarySensors: Set<String> = [
        "battery", "battery_charging", "carbon_monoxide", "cold", "connectivity", "door", "garage_door", "gas", "heat",
        "light", "lock", "moisture", "motion", "moving", "occupancy", "opening", "plug", "power", "presence", "problem",
        "running", "safety", "smoke", "sound", "tamper", "update", "vibration", "window",
    ]
}
