import MachineReadings

/// The sensors for which Linux has a driver, on whatever bus: hwmon in `/sys/class/hwmon`, and iio in `/sys/bus/iio/devices`.
///
/// Their files are in fixed units (Documentation/hwmon/sysfs-interface.rst and Documentation/ABI/testing/sysfs-bus-iio of
/// the kernel). A BME280 on I²C is one of iio: the kernel's driver knows its calibration.
public enum KernelSensors {
    /// What a file begins with, what that is called, its unit, one of the file in that unit, and what is possible.
    private typealias Kind = (prefix: String, name: String, unit: String, scale: Double, range: ClosedRange<Double>)

    private static let hwmon: [Kind] = [
        ("temp", "temperature", "°C", 0.001, -100...300), ("humidity", "humidity", "%", 0.001, 0...100),
        ("in", "voltage", "V", 0.001, -1000...1000), ("curr", "current", "A", 0.001, -1000...1000),
        ("power", "power", "W", 0.000_001, 0...100_000), ("fan", "fan", "rpm", 1, 0...100_000),
    ]
    private static let iio: [Kind] = [
        ("in_temp", "temperature", "°C", 0.001, -100...300), ("in_humidityrelative", "humidity", "%", 0.001, 0...100),
        ("in_pressure", "pressure", "hPa", 10, 0...100_000), ("in_illuminance", "light", "lx", 1, 0...1_000_000),
        ("in_voltage", "voltage", "V", 0.001, -1000...1000),
    ]

    public static func hardwareMonitors(in sys: String = "/sys") -> [any Sensor] {
        // A thermometer on 1-Wire is here once more, and would be asked twice.
        sensors(in: "\(sys)/class/hwmon", hwmon).filter { !$0.quantities[0].name.hasPrefix("w1_") }
    }

    public static func industrialIO(in sys: String = "/sys") -> [any Sensor] {
        sensors(in: "\(sys)/bus/iio/devices", iio)
    }

    private static func sensors(in folder: String, _ kinds: [Kind]) -> [any Sensor] {
        FileSensor.entries(of: folder).flatMap { device -> [any Sensor] in
            let path = "\(folder)/\(device)"
            guard let chip = try? SmallFile.text("\(path)/name") else { return [] }
            let files = FileSensor.entries(of: path)
            return files.compactMap { file -> (any Sensor)? in
                guard let end = [("_input"), ("_raw")].first(where: file.hasSuffix) else { return nil }
                let channel = String(file.dropLast(end.count))
                // The channel is a kind and perhaps a number: "temp1", "in_temp".
                guard
                    let kind = kinds.first(where: {
                        channel.hasPrefix($0.prefix) && channel.dropFirst($0.prefix.count).allSatisfy(\.isNumber)
                    }),
                    end == "_input" || !files.contains("\(channel)_input")
                else { return nil }
                let label =
                    (try? SmallFile.text("\(path)/\(channel)_label")) ?? kind.name
                    + channel.dropFirst(kind.prefix.count)
                // What has no "_input" is a raw number: (raw + offset) * scale is in the same unit.
                let offset = end == "_raw" ? number("\(path)/\(channel)_offset") ?? 0 : 0
                let scale = end == "_raw" ? number("\(path)/\(channel)_scale") ?? 1 : 1
                return FileSensor(
                    "\(path)/\(file)", Quantity("\(chip.prefix(30)) \(label)", unit: kind.unit, range: kind.range)
                ) {
                    FileSensor.number($0).map { ($0 + offset) * scale * kind.scale }
                }
            }
        }
    }

    private static func number(_ path: String) -> Double? { (try? SmallFile.text(path)).flatMap(FileSensor.number) }
}
