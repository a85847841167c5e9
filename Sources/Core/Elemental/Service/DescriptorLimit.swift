import Support

/// How many descriptors, of files and sockets together, this process may have open, and what a service leaves of them
/// for the rest of the program: discovery, files, connections that it makes itself.
///
/// The system gives the lowest number that is free. So the number of a descriptor that was just opened tells how many
/// are in use at the least, without counting them.
enum DescriptorLimit {
    /// The limit that is in force.
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

    /// How many descriptors connections leave free.
    static func reserve(of limit: Int) -> Int { min(32, limit / 4) }

    /// How many connections there can be above a descriptor that was just opened.
    static func room(above descriptor: CInt) -> Int {
        let limit = current
        return max(0, limit - reserve(of: limit) - Int(descriptor) - 1)
    }

    /// Whether a connection with that descriptor takes one that is to be left to others.
    static func isReserved(_ descriptor: CInt) -> Bool {
        let limit = current
        return Int(descriptor) >= limit - reserve(of: limit)
    }
}
