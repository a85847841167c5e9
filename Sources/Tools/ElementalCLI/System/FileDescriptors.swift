#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How many files and sockets this process may have open.
enum FileDescriptors {
    /// What a command needs beside the connections of the devices that it serves.
    private static let ownCount = 256

    /// Allows as many as a service needs for its devices, if the system lets this user have them.
    static func allow(devices: Int) { allow(rlim_t(max(0, devices) + ownCount)) }

    /// Allows as many as the system lets this user have, which is mostly far more than it begins with.
    static func allowMany() { allow(.max) }

    private static func allow(_ wanted: rlim_t) {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(wanted, limit.rlim_max) else { return }
        #if canImport(Darwin)
        limit.rlim_cur = min(wanted, limit.rlim_max, rlim_t(OPEN_MAX))
        #else
        limit.rlim_cur = min(wanted, limit.rlim_max)
        #endif
        _ = setrlimit(resource, &limit)
    }

    /// What a command opens before it has a connection: three for each of SwiftNIO's event loops, of which there is one
    /// a core and which end the process where they cannot have them, and some for the rest.
    private static var needed: Int { 3 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) + 10 }

    /// Looks whether enough can be opened to begin with.
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
                    "only \(opened.count) more files and sockets can be opened, and \(needed) are needed to begin with; "
                        + "raise the limit (ulimit -n)")
            }
            opened.append(descriptor)
        }
    }
}
