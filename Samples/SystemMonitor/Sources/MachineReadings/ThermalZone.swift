#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The CPU's temperature sensor in `/sys/class/thermal`.
///
/// A zone's file `type` says what it measures, its file `temp` has the value in thousandths of a degree Celsius
/// (Documentation/driver-api/thermal/sysfs-api.rst of the kernel). Zones of a battery, a radio or a case are not used.
public struct ThermalZone: Sendable, Hashable {
    /// The zone's directory.
    public let path: String
    /// What it calls itself, such as `cpu-thermal` on a Raspberry Pi or `x86_pkg_temp` on a PC.
    public let type: String

    /// The processor's zone, or `nil` where the machine has none that can be read.
    public static func processor(in root: String = "/sys/class/thermal") -> ThermalZone? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return
            names
            .filter { $0.hasPrefix("thermal_zone") }
            .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            .lazy
            .compactMap { name -> ThermalZone? in
                let path = "\(root)/\(name)"
                guard let type = try? SmallFile.text("\(path)/type") else { return nil }
                return ThermalZone(path: path, type: String(type.filter { !$0.isNewline }))
            }
            .first { $0.isProcessor && $0.celsius() != nil }
    }

    var isProcessor: Bool {
        let type = type.lowercased()
        return ["cpu", "x86_pkg", "coretemp", "soc", "bcm2835", "bcm2711"].contains { type.contains($0) }
    }

    /// The temperature now in degrees Celsius, or `nil` where the sensor does not tell it or tells nonsense.
    public func celsius() -> Double? {
        guard let text = try? SmallFile.text("\(path)/temp") else { return nil }
        return Self.celsius(text)
    }

    /// - Parameter text: the contents of a file `temp`, such as `48312`.
    public static func celsius(_ text: some StringProtocol) -> Double? {
        guard let first = text.split(whereSeparator: \.isWhitespace).first, let thousandths = Int(first),
            (-60_000...200_000).contains(thousandths)
        else { return nil }
        return Double(thousandths) / 1000
    }
}
