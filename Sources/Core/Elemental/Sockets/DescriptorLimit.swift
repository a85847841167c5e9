import Support

/// The limit on this process's open descriptors, files and sockets together, and how many of them a service leaves to
/// the rest of the program: discovery, files, outgoing connections.
///
/// The system assigns the lowest free number. So the number of a newly opened descriptor is a lower bound of how many
/// are in use, without counting them.
enum DescriptorLimit {
    static var current: Int {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of descriptors that connections leave free.
    static func reserve(of limit: Int) -> Int { min(32, limit / 4) }

    /// How many connections fit above a newly opened descriptor.
    static func room(above descriptor: CInt) -> Int {
        let limit = current
        return max(0, limit - reserve(of: limit) - Int(descriptor) - 1)
    }

    static func isReserved(_ descriptor: CInt) -> Bool {
        let limit = current
        return Int(descriptor) >= limit - reserve(of: limit)
    }
}
