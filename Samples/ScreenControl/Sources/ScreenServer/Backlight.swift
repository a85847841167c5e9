import Foundation

/// A backlight in `/sys/class/backlight`.
///
/// Its files `max_brightness` and `brightness` hold whole numbers; `bl_power` is 0 for on and 4 for off
/// (Documentation/ABI/stable/sysfs-class-backlight of the kernel).
struct Backlight: Sendable {
    /// The backlight's name, such as `10-0045` for a Raspberry Pi's touch display.
    let name: String
    private let path: String
    private let maximum: Int

    /// Why there is no usable backlight.
    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    /// The first backlight that this program may change.
    ///
    /// - Throws: ``Unavailable`` if there is none.
    static func first(in root: String = "/sys/class/backlight") throws(Unavailable) -> Backlight {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
        guard !names.isEmpty else { throw Unavailable(description: "this machine has no backlight in \(root)") }
        for name in names {
            let path = "\(root)/\(name)"
            guard let maximum = number(in: "\(path)/max_brightness"), maximum > 0,
                FileManager.default.isWritableFile(atPath: "\(path)/brightness")
            else { continue }
            return Backlight(name: name, path: path, maximum: maximum)
        }
        throw Unavailable(
            description: "this user may not write to \(names.map { "\(root)/\($0)" }.joined(separator: ", ")); "
                + "add it to the group 'video' with a udev rule, or run as root")
    }

    /// The brightness now, 0...1, or `nil` if it cannot be read.
    var brightness: Float? {
        Self.number(in: "\(path)/brightness").map { min(max(Float($0) / Float(maximum), 0), 1) }
    }

    /// Whether the backlight is on, or `nil` if that cannot be read.
    var isOn: Bool? { Self.number(in: "\(path)/bl_power").map { $0 == 0 } }

    /// Sets the brightness, 0...1.
    func set(brightness: Float) throws {
        try write(Int((brightness * Float(maximum)).rounded()), to: "brightness")
    }

    /// Turns the backlight on or off.
    func set(isOn: Bool) throws { try write(isOn ? 0 : 4, to: "bl_power") }

    private func write(_ number: Int, to file: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(path)/\(file)"))
        defer { try? handle.close() }
        try handle.write(contentsOf: Data("\(number)\n".utf8))
    }

    private static func number(in path: String) -> Int? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
