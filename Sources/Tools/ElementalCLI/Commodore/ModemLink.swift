import NIOCore
import SerialLines
import Support
import VirtualCommodore

/// The cable from a virtual Commodore's user port to a gateway at the other end of a TCP connection.
///
/// It never blocks: the thread that runs the machine calls ``exchange(with:)`` repeatedly. When the connection ends or
/// fails, it connects again after a quarter of a second.
final class ModemLink {
    private enum State {
        case away(until: ContinuousClock.Instant)
        case connecting(Int32)
        case connected(Int32)
    }

    /// The maximum number of bytes that wait for the machine. The line takes 120 a second; the rest stays in the socket.
    private static let maximumPending = 512
    /// The maximum number of bytes that wait for the socket. The machine does not wait for the gateway: if the gateway
    /// stops reading, the connection is closed.
    static let maximumUnsent = 64 * 1024
    private static let pause = Duration.milliseconds(250)

    private let address: SocketAddress
    private var state = State.away(until: .now)
    /// Bytes that the machine has sent and the socket has not accepted yet.
    private(set) var unsent: [UInt8] = []
    private let onEvent: (LineEvent) -> Void
    private var hasReportedAbsence = false

    /// - Parameter onEvent: called when the connection is opened, and once per absence.
    init(_ address: SocketAddress, onEvent: @escaping (LineEvent) -> Void) {
        self.onEvent = onEvent
        self.address = address
    }

    static func resolve(_ modem: HostPort) async throws -> SocketAddress {
        try await Blocking.run {
            do {
                return try SocketAddress.makeAddressResolvingHost(modem.host, port: modem.port)
            } catch {
                throw CommandFailure(
                    "hostNotFound", "the host '\(modem.host)' of --modem was not found; check its name")
            }
        }
    }

    deinit { close() }

    /// The descriptor to poll for input; `nil` without a connection, and while the machine has enough to read.
    func descriptorToRead(for machine: Commodore64) -> Int32? {
        guard machine.line.pendingByteCount < Self.maximumPending else { return nil }
        return if case .connected(let descriptor) = state { descriptor } else { nil }
    }

    /// Moves as many bytes both ways as possible without blocking.
    func exchange(with machine: Commodore64) {
        unsent += machine.line.receive()
        switch state {
        case .away(let time):
            machine.line.dcd = false
            // Without a modem the machine's bytes are lost.
            unsent = []
            if time <= .now { connect() }
        case .connecting(let descriptor):
            unsent = []
            finishConnecting(descriptor, machine)
        case .connected(let descriptor):
            guard send(descriptor), receive(descriptor, machine) else {
                lose("the gateway has ended the connection")
                machine.line.cut()
                return
            }
            if unsent.count > Self.maximumUnsent {
                lose("the gateway stopped reading")
                machine.line.cut()
            }
        }
    }

    private func connect() {
        let family = address.protocol.rawValue
        #if canImport(Glibc)
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(family, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return lose(String(systemError: errno)) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        state = .connecting(descriptor)
        // At 1200 baud each byte may go in a packet of its own.
        var yes: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = address.withSockAddr {
            Descriptor.connect(descriptor, to: UnsafeRawBufferPointer(start: $0, count: $1))
        }
        if result != 0 && errno != EINPROGRESS { lose(String(systemError: errno)) }
    }

    private func finishConnecting(_ descriptor: Int32, _ machine: Commodore64) {
        guard Poll.one(descriptor, for: POLLOUT, timeout: 0) != 0 else { return }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0, error == 0 else {
            return lose(String(systemError: error))
        }
        state = .connected(descriptor)
        machine.line.dcd = true
        hasReportedAbsence = false
        onEvent(.opened)
    }

    private func lose(_ reason: String) {
        close()
        if !hasReportedAbsence { onEvent(.lost(reason, retryIn: Self.pause)) }
        hasReportedAbsence = true
    }

    private func close() {
        switch state {
        case .connecting(let descriptor), .connected(let descriptor): Descriptor.close(descriptor)
        case .away: break
        }
        unsent = []
        state = .away(until: .now + Self.pause)
    }

    /// - Returns: whether the connection is still up.
    private func send(_ descriptor: Int32) -> Bool {
        guard !unsent.isEmpty else { return true }
        let count = unsent.withUnsafeBytes { Descriptor.write(descriptor, $0) }
        if count > 0 { unsent.removeFirst(count) }
        return count >= 0 || errno == EAGAIN || errno == EINTR
    }

    /// - Returns: whether the connection is still up.
    private func receive(_ descriptor: Int32, _ machine: Commodore64) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 256)
        while machine.line.pendingByteCount < Self.maximumPending {
            let count = buffer.withUnsafeMutableBytes { Descriptor.read(descriptor, $0) }
            if count > 0 {
                machine.line.send(buffer[..<count])
            } else {
                return count < 0 && (errno == EAGAIN || errno == EINTR)
            }
        }
        return true
    }
}
