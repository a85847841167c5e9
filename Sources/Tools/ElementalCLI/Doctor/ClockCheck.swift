import Support

/// Whether certificates would be valid by this machine's clock.
enum ClockCheck {
    /// 1 January 2026: this program is not older.
    private static let earliest = 1_767_225_600

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - mark: a file of systemd-timesyncd's; other programs that keep the time leave no such mark.
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
