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

    /// How many a command opens before it connects: three for each of SwiftNIO's event loops, of which there is one per
    /// core, and some for the rest. SwiftNIO ends the process if it cannot have them.
    private static var needed: Int { 3 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) + 10 }

    /// Checks that enough can be opened to begin.
    ///
    /// - Throws: ``CommandFailure`` that says what to do if not.
    static func expectEnough() throws {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        for _ in 0..<needed {
            let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
            guard descriptor >= 0 else {
                throw CommandFailure(
                    "noDescriptors",
                    "only \(opened.count) more files and sockets can be opened, and \(needed) are needed; "
                        + "raise the limit (ulimit -n)")
            }
            opened.append(descriptor)
        }
    }
}
