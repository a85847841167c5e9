import Support

/// Standard input, output and error, which the parent process may have closed.
enum StandardDescriptors {
    /// Opens the closed ones on /dev/null: otherwise a socket could get one of their numbers, and output would go to it.
    ///
    /// Results that are written to standard output would be lost without a word. There the write fails.
    static func open() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // `open` returns the lowest free number, which is this one.
            _ = Descriptor.open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }
}
