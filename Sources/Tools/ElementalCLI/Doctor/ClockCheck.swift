import Support

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
