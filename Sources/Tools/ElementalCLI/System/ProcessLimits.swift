import Support

/// The descriptors and memory that this process needs. SwiftNIO traps without a descriptor or a thread that it needs, and Swift
/// waits for ever for a thread that it cannot start.
enum ProcessLimits {
    private static let coreCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// Three for each of SwiftNIO's event loops, of which there is one per core, and some for the rest.
    private static let descriptorCount = 3 * coreCount + 16
    /// Swift's pool, SwiftNIO's event loops and SwiftNIO's pool have one per core each, and a few belong to commands.
    private static let threadCount = 3 * coreCount + 8
    /// Bytes of address space that a thread takes: its stack, and its heap with glibc.
    private static let threadSpace = (8 + 64) << 20

    /// Allocates what every command needs and releases it, which finds any limit. It starts no thread and no queue of
    /// Swift's.
    static func check() throws(CommandFailure) {
        try checkDescriptors()
        try checkAddressSpace()
        #if os(Linux)
        try checkThreads()
        #endif
    }

    private static func checkDescriptors() throws(CommandFailure) {
        var opened: [CInt] = []
        defer { for descriptor in opened { close(descriptor) } }
        while opened.count < descriptorCount {
            let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
            guard descriptor >= 0 else {
                throw CommandFailure(
                    "noDescriptors",
                    "only \(opened.count) more files and sockets can be opened, and \(descriptorCount) are needed; "
                        + "raise the limit (ulimit -n)")
            }
            opened.append(descriptor)
        }
    }

    private static func checkAddressSpace() throws(CommandFailure) {
        let size = threadCount * threadSpace
        guard let space = mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0), space != MAP_FAILED else {
            throw CommandFailure(
                "noAddressSpace",
                "\(size >> 20) MiB of address space are needed for threads, and less is left; raise the limit (ulimit -v, "
                    + "LimitAS= of systemd)")
        }
        munmap(space, size)
    }

    #if os(Linux)
    private static func checkThreads() throws(CommandFailure) {
        // The threads wait for it.
        let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        pthread_mutex_init(gate, nil)
        pthread_mutex_lock(gate)
        var started: [pthread_t] = []
        defer {
            pthread_mutex_unlock(gate)
            for thread in started { pthread_join(thread, nil) }
            pthread_mutex_destroy(gate)
            gate.deallocate()
        }
        while started.count < threadCount {
            var thread = pthread_t()
            let error = pthread_create(
                &thread, nil,
                { gate in
                    let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self)
                    pthread_mutex_lock(gate!)
                    pthread_mutex_unlock(gate!)
                    return nil
                }, gate)
            guard error == 0 else {
                throw CommandFailure(
                    "noThreads",
                    "only \(started.count) more threads can be started, and \(threadCount) are needed; raise the limit "
                        + "(ulimit -u, TasksMax= of systemd)")
            }
            started.append(thread)
        }
    }
    #endif
}
