import NIOPosix
import Support

/// Carries bytes between a pseudo-terminal and a socket, on a thread of its own, until the pseudo-terminal's other end is
/// closed or the socket is.
///
/// An event loop cannot do this: if the other end is closed and reopened before the loop has read the end of the
/// stream, SwiftNIO takes that for an impossible state and ends the process.
struct PseudoTerminalPump {
    /// Bytes that were read from one side and wait for the other. No more are read before they are written.
    private struct Direction {
        let source: CInt
        let target: CInt
        private(set) var bytes: ArraySlice<UInt8> = []

        init(from source: CInt, to target: CInt) { (self.source, self.target) = (source, target) }

        /// - Returns: whether both sides are still there.
        mutating func move(capacity: Int) -> Bool {
            if bytes.isEmpty {
                var buffer = [UInt8](repeating: 0, count: capacity)
                let count = read(source, &buffer, capacity)
                guard count > 0 else { return count < 0 && Self.isTemporary(errno) }
                bytes = buffer[..<count]
            }
            let count = bytes.withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
            guard count >= 0 else { return Self.isTemporary(errno) }
            bytes = bytes.dropFirst(count)
            return true
        }

        private static func isTemporary(_ number: CInt) -> Bool { [EAGAIN, EINTR].contains(number) }
    }

    /// The maximum number of bytes that wait in each direction, about as many as a pseudo-terminal buffers itself.
    private static let capacity = 4096

    private let terminal: CInt
    private let socket: CInt

    /// Starts the pump.
    ///
    /// - Parameter descriptor: the pseudo-terminal's. The caller keeps its ownership.
    /// - Returns: the socket, which the caller closes. It ends when the pseudo-terminal's other end is closed.
    static func start(_ descriptor: CInt) throws(TerminalDevice.Failure) -> CInt {
        #if canImport(Glibc)
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw TerminalDevice.Failure(number: errno)
        }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else {
            let failure = TerminalDevice.Failure(number: errno)
            for end in ends { close(end) }
            throw failure
        }
        // The minimum that the system allows, so that values wait in the queue, where newer ones can replace them.
        var size: CInt = 1
        for end in ends {
            setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        for end in [copy, ends[1]] { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
        let pump = PseudoTerminalPump(terminal: copy, socket: ends[1])
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        thread.submit { _ in
            pump.run()
            thread.shutdownGracefully { _ in }
        }
        return ends[0]
    }

    private func run() {
        // The socket's other end may be closed, which must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var toTerminal = Direction(from: socket, to: terminal)
        var toSocket = Direction(from: terminal, to: socket)
        while true {
            let (reads, writes) = (toSocket.bytes.isEmpty, !toTerminal.bytes.isEmpty)
            var entries = [
                pollfd(fd: socket, events: Int16((writes ? 0 : POLLIN) | (reads ? 0 : POLLOUT)), revents: 0),
                // While nothing can be read or written, a closed end would be reported again and again.
                pollfd(
                    fd: reads || writes ? terminal : -1, events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)),
                    revents: 0),
            ]
            guard poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else { break }
            let (ofSocket, ofTerminal) = (CInt(entries[0].revents), CInt(entries[1].revents))
            // What waits for the end that is gone is dropped.
            if writes, (ofSocket | ofTerminal) & POLLHUP != 0 { break }
            if (writes ? ofTerminal : ofSocket) != 0, !toTerminal.move(capacity: Self.capacity) { break }
            if (reads ? ofTerminal : ofSocket) != 0, !toSocket.move(capacity: Self.capacity) { break }
        }
        // The last output of the program that is gone, if the socket has room for it.
        for _ in 0..<3 { guard toSocket.move(capacity: Self.capacity), toSocket.bytes.isEmpty else { break } }
        close(terminal)
        close(socket)
    }
}
