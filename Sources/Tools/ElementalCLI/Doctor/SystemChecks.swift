import ElementalSecurity
import NIOCore
import Support

/// Whether certificates would be valid by this machine's clock.
enum ClockCheck {
    /// 1 January 2026: this program is newer.
    private static let earliest = 1_767_225_600

    /// - Parameter mark: a file that systemd-timesyncd writes; other time services write no such file.
    static func run(
        now: Int = time(nil), mark: String = "/run/systemd/timesync/synchronized"
    ) -> Finding {
        guard now >= earliest else {
            return Finding(
                "clock", .problem, "the clock is years behind, so certificates are not valid yet",
                advice: "sudo timedatectl set-ntp true, or set it with date")
        }
        guard access(mark, F_OK) == 0 else {
            return Finding(
                "clock", .skipped, "cannot tell whether a time server sets the clock",
                advice: "if you need exact times: timedatectl status, and sudo timedatectl set-ntp true")
        }
        return Finding("clock", .ok, "a time server sets the clock")
    }
}

/// Whether enough files and sockets may be open.
enum DescriptorCheck {
    /// The descriptors that a service for 1,024 devices needs.
    private static let wanted = 1280

    static func run(_ limits: (soft: UInt64, hard: UInt64) = FileDescriptors.limits) -> Finding {
        let (soft, hard) = limits
        guard hard < UInt64(wanted) else {
            return Finding("open files", .ok, "\(soft) may be open, and \(hard) if a service needs them")
        }
        return Finding(
            "open files", .warning,
            "only \(hard) files and sockets may be open; a service for 1,024 devices needs \(wanted)",
            advice: "raise the limit: LimitNOFILE= in a systemd unit, or 'ulimit -Hn' as root before the start")
    }
}

/// Whether this machine has addresses of both families. Services are published with either; the findings name the
/// clients that cannot reach them.
enum AddressFamilyCheck {
    static func run() -> [Finding] {
        guard let devices = try? System.enumerateDevices() else {
            return [Finding("addresses", .skipped, "the network interfaces cannot be listed")]
        }
        let addresses = devices.compactMap(\.address)
        return [
            check(
                "IPv4", addresses.filter { $0.protocol == .inet }.compactMap(\.ipAddress),
                advice: "connect this machine to a network that assigns addresses, and check with: ip address"),
            check(
                "IPv6", addresses.filter { $0.protocol == .inet6 }.compactMap(\.ipAddress),
                advice:
                    "if other machines need it, check whether it is disabled: sysctl net.ipv6.conf.all.disable_ipv6"
            ),
        ]
    }

    private static func check(_ family: String, _ addresses: [String], advice: String) -> Finding {
        guard addresses.contains(where: { $0 != "::1" && !$0.hasPrefix("127.") }) else {
            let (place, who) =
                addresses.isEmpty
                ? ("no interface", "nothing reaches this machine's")
                : ("only loopback", "other machines do not reach this one's")
            return Finding(
                family, .warning, "\(place) has an \(family) address, so \(who) services over \(family)", advice: advice
            )
        }
        return Finding(family, .ok, "this machine has an address in a network")
    }
}

/// Whether a firewall is on that has to let services through.
enum FirewallCheck {
    /// - Parameter root: the folder that the system's files are in.
    static func run(root: String = "") -> [Finding] {
        let advice = "let discovery and a service's port through: sudo "
        var findings: [Finding] = []
        if FileContent.text(of: root + "/etc/ufw/ufw.conf")?.contains("ENABLED=yes") == true {
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
}

/// Whether this user can use serial adapters, as the gateways do.
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

/// Whether identity and trusted peers can be kept.
enum StateCheck {
    /// - Parameter explicit: the directory that was given on the command line.
    static func run(_ explicit: String?) -> Finding {
        let path: String
        do throws(SecurityError) {
            path = try StateDirectory.path(explicit: explicit, environment: StateDirectory.environment)
            let hasIdentity = try SecurityState.existing(directory: explicit) != nil
            if access(path, F_OK) == 0 {
                guard access(path, W_OK) == 0 else {
                    return Finding(
                        "state directory", .problem, "\(path) cannot be written, so nothing can be paired",
                        advice: "make it this user's own: sudo chown -R $USER \(path.shellArgument)")
                }
                return Finding(
                    "state directory", .ok,
                    hasIdentity
                        ? "identity and trusted peers are in \(path)"
                        : "\(path) has no identity yet: the first command that needs one creates it")
            }
        } catch {
            return Finding("state directory", .problem, error.message)
        }
        // The directory is created at the first start. Finds out whether this user can create it.
        var parent = path
        while access(parent, F_OK) != 0, let slash = parent.lastIndex(of: "/"), slash != parent.startIndex {
            parent = String(parent[..<slash])
        }
        guard access(parent, W_OK) == 0 else {
            return Finding(
                "state directory", .problem, "\(path) cannot be created: \(parent) cannot be written by this user",
                advice: "name another: --state DIR or $ELEMENTAL_STATE")
        }
        return Finding("state directory", .ok, "the first command that needs an identity creates \(path)")
    }
}
