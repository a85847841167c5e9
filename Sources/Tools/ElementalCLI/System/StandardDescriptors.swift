#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Standard input, output and error, which a caller may have closed.
enum StandardDescriptors {
    /// Opens those that are closed on /dev/null, before a socket gets one of their numbers and is written to.
    static func open() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free number is the one that was closed.
            _ = Descriptor.open("/dev/null", O_RDWR)
        }
    }
}
