import Support

/// Whether a firewall is on that has to let services through.
enum FirewallCheck {
    /// - Parameter root: the folder that the system's files are in.
    static func run(root: String = "") -> [Finding] {
        let advice = "let discovery and a service's port through: sudo "
        var findings: [Finding] = []
        if let settings = text(of: root + "/etc/ufw/ufw.conf"), settings.contains("ENABLED=yes") {
            let commands = "ufw allow 5353/udp; sudo ufw allow PORT (a fixed one: --port)"
            findings.append(Finding("firewall", .warning, "ufw is on", advice: advice + commands))
        }
        if access(root + "/run/firewalld.pid", F_OK) == 0 || access(root + "/run/firewalld", F_OK) == 0 {
            let options = "--add-service=mdns --add-port=PORT/tcp --add-port=PORT/udp"
            let commands = "firewall-cmd --permanent \(options); sudo firewall-cmd --reload"
            findings.append(Finding("firewall", .warning, "firewalld is on", advice: advice + commands))
        }
        return findings.isEmpty ? [Finding("firewall", .ok, "neither ufw nor firewalld is on")] : findings
    }

    /// The file's text, its first 64 KiB; `nil` if it cannot be read.
    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
