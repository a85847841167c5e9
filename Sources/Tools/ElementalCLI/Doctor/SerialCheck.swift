import Support

/// Whether serial adapters can be used, as the Commodore's gateway does.
enum SerialCheck {
    static func run(in directory: String = "/dev") -> [Finding] {
        let all = FileContent.names(in: directory).sorted()
        let names = all.filter { $0.hasPrefix("ttyUSB") || $0.hasPrefix("ttyACM") }
        guard !names.isEmpty else {
            return [
                Finding("serial devices", .skipped, "there are none (\(directory)/ttyUSB*, \(directory)/ttyACM*)")
            ]
        }
        return names.prefix(16).map { name in
            access("\(directory)/\(name)", R_OK | W_OK) == 0
                ? Finding("serial devices", .ok, "\(directory)/\(name) can be used")
                : Finding(
                    "serial devices", .warning, "\(directory)/\(name) cannot be used by this user",
                    advice: "sudo adduser $USER dialout, and then log in again")
        }
    }
}
