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
