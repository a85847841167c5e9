import Support

/// Whether a firewall is on that has to let services through.
enum FirewallCheck {
    static func run() -> [Finding] {
        var findings: [Finding] = []
        if let settings = TextFile.read("/etc/ufw/ufw.conf"), settings.contains("ENABLED=yes") {
            findings.append(
                Finding(
                    "firewall", .warning, "ufw is on",
                    advice:
                        "let discovery and a service's port through: sudo ufw allow 5353/udp; sudo ufw allow PORT (a fixed "
                        + "one: --port)"))
        }
        if access("/run/firewalld.pid", F_OK) == 0 || access("/run/firewalld", F_OK) == 0 {
            findings.append(
                Finding(
                    "firewall", .warning, "firewalld is on",
                    advice:
                        "let discovery and a service's port through: sudo firewall-cmd --permanent --add-service=mdns "
                        + "--add-port=PORT/tcp --add-port=PORT/udp; sudo firewall-cmd --reload"))
        }
        return findings.isEmpty ? [Finding("firewall", .ok, "neither ufw nor firewalld is on")] : findings
    }
}

/// Whether certificates would be valid by this machine's clock.
enum ClockCheck {
    /// 1 January 2026: this program is not older.
    private static let earliest = 1_767_225_600

    static func run() -> Finding {
        let now = time(nil)
        guard now >= earliest else {
            return Finding(
                "clock", .problem, "the clock is years behind, so certificates are not valid yet",
                advice: "sudo timedatectl set-ntp true, or set it with date")
        }
        // Written by systemd-timesyncd; other programs that keep the time leave no such mark.
        guard access("/run/systemd/timesync/synchronized", F_OK) == 0 else {
            return Finding(
                "clock", .skipped, "it is not known whether a time server keeps the clock",
                advice: "if times matter to you: timedatectl status, and sudo timedatectl set-ntp true")
        }
        return Finding("clock", .ok, "a time server keeps the clock")
    }
}

/// Whether enough files and sockets may be open.
enum DescriptorCheck {
    /// What a service for 1,024 devices takes.
    private static let wanted = 1280

    static func run() -> Finding {
        let (soft, hard) = FileDescriptors.limits
        guard hard < UInt64(wanted) else {
            return Finding("open files", .ok, "\(soft) may be open, and \(hard) if a service needs them")
        }
        return Finding(
            "open files", .warning,
            "only \(hard) files and sockets may be open; a service for 1,024 devices needs \(wanted)",
            advice: "raise the limit: LimitNOFILE= in a systemd unit, or 'ulimit -Hn' as root before the start")
    }
}

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
