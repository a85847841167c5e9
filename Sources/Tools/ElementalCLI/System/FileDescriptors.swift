import Support

/// The limit of files and sockets that this process may have open.
enum FileDescriptors {
    /// How many a command needs in addition to its devices' connections.
    private static let ownCount = 256

    /// Raises the soft limit for a service with that many devices, as far as the hard limit allows.
    static func allow(devices: Int) { allow(rlim_t(max(0, devices) + ownCount)) }

    /// Raises the soft limit to the hard limit, which is usually far higher.
    static func allowMany() { allow(.max) }

    /// How many may be open, and to how many a process may raise that.
    static var limits: (soft: UInt64, hard: UInt64) {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return (0, 0) }
        return (UInt64(limit.rlim_cur), UInt64(limit.rlim_max))
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let resource = RLIMIT_NOFILE
    #endif

    private static func allow(_ wanted: rlim_t) {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(wanted, limit.rlim_max) else { return }
        #if canImport(Darwin)
        limit.rlim_cur = min(wanted, limit.rlim_max, rlim_t(OPEN_MAX))
        #else
        limit.rlim_cur = min(wanted, limit.rlim_max)
        #endif
        _ = setrlimit(resource, &limit)
    }
}
