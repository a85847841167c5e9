#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The system's calls under names that do not collide with a type's own methods.
enum Descriptor {
    static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
        Musl.read(descriptor, buffer.baseAddress, buffer.count)
        #else
        Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }

    static func write(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
        Musl.write(descriptor, buffer.baseAddress, buffer.count)
        #else
        Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }

    static func open(_ path: String, _ flags: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.open(path, flags)
        #elseif canImport(Musl)
        Musl.open(path, flags)
        #else
        Glibc.open(path, flags)
        #endif
    }

    /// A pipe that child processes do not inherit.
    static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Darwin)
        let result = Darwin.pipe(&ends)
        #elseif canImport(Musl)
        let result = Musl.pipe(&ends)
        #else
        let result = Glibc.pipe(&ends)
        #endif
        guard result == 0 else { throw CommandFailure("failed", "no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    static func close(_ descriptor: Int32) {
        #if canImport(Darwin)
        _ = Darwin.close(descriptor)
        #elseif canImport(Musl)
        _ = Musl.close(descriptor)
        #else
        _ = Glibc.close(descriptor)
        #endif
    }

    static func connect(_ descriptor: Int32, to address: UnsafeRawBufferPointer) -> Int32 {
        let count = socklen_t(address.count)
        guard let address = address.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
        #if canImport(Darwin)
        return Darwin.connect(descriptor, address, count)
        #elseif canImport(Musl)
        return Musl.connect(descriptor, address, count)
        #else
        return Glibc.connect(descriptor, address, count)
        #endif
    }

    /// Writes all bytes, waiting as long as it takes.
    ///
    /// - Returns: whether all of them were written.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                // Someone else who shares the terminal or pipe has made it non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
