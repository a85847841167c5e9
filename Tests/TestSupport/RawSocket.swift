import Dispatch
import Glibc

/// A plain socket, for scripted peers: it sends exactly the bytes of a test.
public final class RawSocket: Sendable {
    /// A failed system call.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
        public init(text: String) { description = text }
    }

    let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var timeout = timeval(tv_sec: Int(Patience.wait.components.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        // Sends at once instead of waiting for more data. It has no effect on datagrams.
        set(TCP_NODELAY, at: Int32(IPPROTO_TCP))
    }

    private convenience init(isDatagram: Bool = false) throws {
        let type = isDatagram ? SOCK_DGRAM : SOCK_STREAM
        let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        self.init(descriptor)
    }

    deinit { Glibc.close(descriptor) }

    private func set(_ option: Int32, at level: Int32 = SOL_SOCKET, to value: Int32 = 1) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func bind(to port: Int, _ address: String) throws {
        let result = Self.with(Self.loopback(port, address)) { Glibc.bind(descriptor, $0, $1) }
        guard result == 0 else { throw Failure("bind") }
    }

    private static func loopback(_ port: Int, _ address: String) -> sockaddr_in {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        return name
    }

    private static func with<R>(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// IP_BIND_ADDRESS_NO_PORT of linux/in.h, which Glibc's module does not have.
    private static let bindsAddressOnly: Int32 = 24

    /// Connects to a port of this machine.
    ///
    /// - Parameter receiveBuffer: the size of the system's receive buffer; the default if `nil`.
    public static func connect(
        to port: Int, at address: String = "127.0.0.1", from source: String = "127.0.0.1", receiveBuffer: Int32? = nil
    ) throws -> RawSocket {
        let raw = try RawSocket()
        if let receiveBuffer { raw.set(SO_RCVBUF, to: receiveBuffer) }
        // The port is chosen as for unbound sockets, which avoids the ports of servers that are restarted.
        raw.set(bindsAddressOnly, at: Int32(IPPROTO_IP))
        try raw.bind(to: 0, source)
        let result = with(loopback(port, address)) { Glibc.connect(raw.descriptor, $0, $1) }
        guard result == 0 else { throw Failure("connect") }
        return raw
    }

    /// Listens on a port, which the system chooses if it is 0.
    ///
    /// - Parameters:
    ///   - backlog: this number of connections plus one are completed before they are accepted.
    ///   - receiveBuffer: the size of the system's receive buffer of a connection; the default if `nil`.
    public static func listen(
        port: Int = 0, address: String = "127.0.0.1", backlog: Int32 = 16, receiveBuffer: Int32? = nil
    ) throws -> (socket: RawSocket, port: Int) {
        let raw = try RawSocket()
        if let receiveBuffer { raw.set(SO_RCVBUF, to: receiveBuffer) }
        // Also where a connection still ends, or at a port that is leased.
        if port != 0 { raw.set(SO_REUSEADDR) }
        try raw.bind(to: port, address)
        guard Glibc.listen(raw.descriptor, backlog) == 0 else { throw Failure("listen") }
        return (raw, try raw.localPort())
    }

    /// A socket that is bound to a port and does not listen, see ``PortLease``.
    static func lease(port: Int) throws -> RawSocket {
        let raw = try RawSocket()
        // On all addresses of the machine, as a server may be.
        try raw.bind(to: port, "0.0.0.0")
        // Not before: two leases of one port would be allowed.
        raw.set(SO_REUSEADDR)
        return raw
    }

    /// A UDP socket on a port of this machine; 0 lets the system choose.
    public static func datagram(port: Int = 0, address: String = "127.0.0.1") throws -> RawSocket {
        let raw = try RawSocket(isDatagram: true)
        try raw.bind(to: port, address)
        return raw
    }

    public func localPort() throws -> Int {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw Failure("getsockname") }
        return Int(in_port_t(bigEndian: name.sin_port))
    }

    public func accept() async throws -> RawSocket {
        try await blocking { [descriptor] in
            // Not inherited by child processes, which would keep the connection open.
            let accepted = Glibc.accept(descriptor, nil, nil)
            guard accepted >= 0 else { throw Failure("accept") }
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            return RawSocket(accepted)
        }
    }

    public func write(_ bytes: [UInt8]) throws {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure("send") }
            start += count
        }
    }

    /// Sends a datagram to a port of this machine.
    public func send(datagram bytes: [UInt8], to port: Int) throws {
        let count = bytes.withUnsafeBytes { buffer in
            Self.with(Self.loopback(port, "127.0.0.1")) {
                sendto(descriptor, buffer.baseAddress, buffer.count, 0, $0, $1)
            }
        }
        guard count == bytes.count else { throw Failure("sendto") }
    }

    /// Reads exactly this number of bytes, or fails at the end of ``Patience/wait`` or at the end of the stream.
    public func read(_ count: Int) async throws -> [UInt8] {
        try await blocking { [descriptor] in
            var bytes: [UInt8] = []
            while bytes.count < count {
                var buffer = [UInt8](repeating: 0, count: count - bytes.count)
                let got = recv(descriptor, &buffer, buffer.count, 0)
                guard got > 0 else {
                    throw got == 0
                        ? Failure(text: "end of stream after \(bytes.count) bytes, \(bytes.prefix(32))")
                        : Failure("recv after \(bytes)")
                }
                bytes += buffer[..<got]
            }
            return bytes
        }
    }

    /// Reads what has arrived, at least one byte; empty at the end of the stream. Fails at the end of ``Patience/wait``.
    public func readSome() async throws -> [UInt8] {
        try await blocking { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let got = recv(descriptor, &buffer, buffer.count, 0)
            guard got >= 0 else { throw Failure("recv") }
            return Array(buffer[..<got])
        }
    }

    /// Reads one frame of a stream.
    public func readFrame() async throws -> (id: Int8, value: [UInt8]) {
        let header = try await read(5)
        let length = header[1...].reversed().reduce(0) { $0 << 8 | Int($1) }
        return (Int8(bitPattern: header[0]), length == 0 ? [] : try await read(length))
    }

    /// Reads the next datagram.
    public func readDatagram() async throws -> [UInt8] { try await readSome() }

    /// Reads until the other end closes; a reset counts as an end.
    public func readToEnd() async throws -> [UInt8] {
        try await blocking { [descriptor] in
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let got = recv(descriptor, &buffer, buffer.count, 0)
                if got == 0 || (got < 0 && errno == ECONNRESET) { return bytes }
                guard got > 0 else { throw Failure("recv") }
                bytes += buffer[..<got]
            }
        }
    }

    /// Shuts down sending; receiving still works.
    public func closeOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    private func blocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            // A queue of its own: tests run many of these at once, more than a shared queue has threads.
            DispatchQueue(label: "raw socket").async { continuation.resume(with: Result { try body() }) }
        }
    }
}
