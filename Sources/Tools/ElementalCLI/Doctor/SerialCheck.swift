import Support

/// Whether serial adapters can be used, as the Commodore's gateway does.
enum SerialCheck {
    static func run() -> [Finding] {
        let names = Directory.names("/dev").filter { $0.hasPrefix("ttyUSB") || $0.hasPrefix("ttyACM") }.sorted()
        guard !names.isEmpty else {
            return [Finding("serial devices", .skipped, "there are none (/dev/ttyUSB*, /dev/ttyACM*)")]
        }
        return names.prefix(16).map { name in
            access("/dev/\(name)", R_OK | W_OK) == 0
                ? Finding("serial devices", .ok, "/dev/\(name) can be used")
                : Finding(
                    "serial devices", .warning, "/dev/\(name) cannot be used by this user",
                    advice: "sudo adduser $USER dialout, and then log in again")
        }
    }
}
