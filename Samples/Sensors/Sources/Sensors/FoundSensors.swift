import Foundation

/// The sensors that are found without anybody naming them, and a line about each kind, also of those that are absent.
public struct FoundSensors: Sendable {
    public let sensors: [any Sensor]
    public let notes: [String]

    public init(sys: String = "/sys", dev: String = "/dev") {
        let kinds = [
            ("1-Wire thermometers", "\(sys)/bus/w1/devices", OneWire.sensors(in: sys)),
            ("sensors of hwmon", "\(sys)/class/hwmon", KernelSensors.hardwareMonitors(in: sys)),
            ("sensors of iio", "\(sys)/bus/iio/devices", KernelSensors.industrialIO(in: sys)),
        ]
        let devices = (try? FileManager.default.contentsOfDirectory(atPath: dev)) ?? []
        let buses = [("I²C buses", "i2c-", "--i2c"), ("GPIO chips", "gpiochip", "--input and --output")].map {
            (what, prefix, option) in
            let names = devices.filter { $0.hasPrefix(prefix) }.sorted().prefix(16)
            return names.isEmpty
                ? "\(what): none in \(dev)" : "\(what): \(names.joined(separator: ", ")), for \(option)"
        }
        sensors = kinds.flatMap(\.2)
        notes = kinds.map { $2.isEmpty ? "\($0): none in \($1), left out" : "\($0): \($2.count)" } + buses
    }
}
