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
