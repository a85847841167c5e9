import Foundation
import MachineReadings

/// Thermometers on a 1-Wire bus: DS18B20 and its kin, by the kernel's driver w1_therm.
///
/// A thermometer's file `w1_slave` has its nine bytes, whether their checksum is right, and thousandths of a degree Celsius
/// (Documentation/w1/slaves/w1_therm.rst of the kernel). Reading it takes 750 ms: the thermometer measures then.
public enum OneWire {
    /// DS18S20, DS1822, DS18B20, DS1825 and DS28EA00.
    private static let families = ["10-", "22-", "28-", "3b-", "42-"]

    public static func sensors(in sys: String = "/sys") -> [any Sensor] {
        let folder = "\(sys)/bus/w1/devices"
        return FileSensor.entries(of: folder).filter { families.contains(String($0.prefix(3))) }.map { name in
            let quantity = Quantity("1-Wire \(name)", unit: "°C", range: -55...125)
            let path = "\(folder)/\(name)/w1_slave"
            guard FileManager.default.fileExists(atPath: path) else {
                return FileSensor("\(folder)/\(name)/temperature", quantity) { measured(ThermalZone.celsius($0)) }
            }
            return FileSensor(path, quantity, parse: celsius)
        }
    }

    /// - Parameter text: the contents of a file `w1_slave`.
    /// - Returns: degrees Celsius, or `nil` where the thermometer has measured nothing.
    /// - Throws: ``ReadingError`` if the bus garbled the bytes.
    @Sendable public static func celsius(_ text: String) throws -> Double? {
        let lines = text.split(separator: "\n")
        guard lines.count >= 2, let mark = lines[1].range(of: "t=") else {
            throw ReadingError("w1_slave", "not its format")
        }
        // A shorted bus reads as zeros, whose checksum is zero, hence right.
        guard lines[0].hasSuffix("YES"), !lines[0].hasPrefix("00 00 00 00 00 00 00 00 00") else {
            throw ReadingError("w1_slave", "the checksum is wrong; see to the wire, and its resistor of 4.7 kΩ")
        }
        return measured(ThermalZone.celsius(lines[1][mark.upperBound...]))
    }

    /// 85 °C is what a thermometer says that has lost its power and not measured since, so it is no value.
    private static func measured(_ celsius: Double?) -> Double? { celsius == 85 ? nil : celsius }
}
