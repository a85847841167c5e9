import Support

/// System calls under names that do not collide with a type's own methods.
///
/// swift-system's `FileDescriptor` would replace those for files and pipes, about 35 lines, and add 5 to 7 s to the first
/// build on 2 cores; it has no `connect`, `poll` or terminal settings.
enum Descriptor {
    static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        Support.read(descriptor, buffer.baseAddress, buffer.count)
    }

    static func write(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
        Support.write(descriptor, buffer.baseAddress, buffer.count)
    }

    static func open(_ path: String, _ flags: Int32) -> Int32 { Support.open(path, flags) }

    static func close(_ descriptor: Int32) { _ = Support.close(descriptor) }

    static func connect(_ descriptor: Int32, to address: UnsafeRawBufferPointer) -> Int32 {
        guard let start = address.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
        return Support.connect(descriptor, start, socklen_t(address.count))
    }

    /// The size of the terminal there; 80 by 24 if it is not known.
    static func terminalSize(_ descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Makes a pipe that child processes do not inherit.
    static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Support.pipe(&ends) == 0 else {
            throw CommandFailure("failed", "cannot make a pipe: \(String(systemError: errno))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Writes all bytes, without a time limit, and returns whether all of them were written.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                // Another process that shares the terminal or pipe has made it non-blocking.
                _ = Poll.one(descriptor, for: POLLOUT, timeout: -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The limit of files and sockets that this process may have open.
enum FileDescriptors {
    /// How many a command needs in addition to its devices' connections.
    private static let ownCount = 256

    /// Raises the soft limit for a service with that many devices, as far as the hard limit allows.
    static func allow(devices: Int) { allow(rlim_t(max(0, devices) + ownCount)) }

    /// Raises the soft limit to the hard limit, which is usually far higher.
    static func allowMany() { allow(.max) }

    /// The number of descriptors that may be open, and the maximum to which a process may raise it.
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
