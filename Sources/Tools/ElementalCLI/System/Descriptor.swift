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

    /// Makes a pipe that child processes do not inherit.
    static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Support.pipe(&ends) == 0 else {
            throw CommandFailure("failed", "cannot make a pipe: \(String(systemError: errno))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Writes all bytes, waiting as long as it takes, and returns whether all of them were written.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                // Another process that shares the terminal or pipe has made it non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
