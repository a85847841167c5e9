import NIOCore

/// Whether this machine has addresses of both families. Services are published with either; this says who cannot reach them.
enum AddressFamilyCheck {
    static func run() -> [Finding] {
        guard let devices = try? System.enumerateDevices() else {
            return [Finding("addresses", .skipped, "the network interfaces cannot be listed")]
        }
        let addresses = devices.compactMap(\.address)
        return [
            check(
                "IPv4", addresses.filter { $0.protocol == .inet }.compactMap(\.ipAddress),
                advice: "connect this machine to a network that assigns addresses, and look at: ip address"),
            check(
                "IPv6", addresses.filter { $0.protocol == .inet6 }.compactMap(\.ipAddress),
                advice:
                    "if other machines need it, look whether it is switched off: sysctl net.ipv6.conf.all.disable_ipv6"
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
