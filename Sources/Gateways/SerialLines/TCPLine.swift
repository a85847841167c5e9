import Elemental
import NIOCore
import NIOPosix
import Support

/// A TCP port that a machine's emulator or a board's adapter connects to. Of the connections from one host, the newest
/// has the line: a restarted program need not wait until the system detects that its old connection is dead.
/// Connections are not authenticated, so another host gets the line only if the old connection turns out to be dead
/// within ``probeTime``.
final class TCPLine: Line, LineChannelOwner {
    let name: String
    private let usesIP232: Bool
    /// The listening socket, which is reopened if the system closes it.
    private var server: KeptChannel?
    private let eventLoop: any EventLoop
    private weak var handler: (any LineHandler)?
    private var channel: LineChannel?
    /// A connection from another host, until it is known whether the line's connection is still alive.
    private var waiting: (channel: LineChannel, end: Scheduled<Void>)?
    private var wasRefusalTold = false
    /// Longer than the system's probing takes.
    static let probeTime = TimeAmount.seconds(5)
    private var decoder = IP232()
    private var hasCarrier = false

    init(server: any Channel, usesIP232: Bool, reopen: @escaping @Sendable () async throws -> any Channel) {
        self.usesIP232 = usesIP232
        eventLoop = server.eventLoop
        name = server.localAddress?.text ?? "?"
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        self.server = KeptChannel(server, open: reopen) { [eventLoop] event in
            eventLoop.execute { bound.value.note(event) }
        }
    }

    private func note(_ event: KeptChannel.Event) {
        switch event {
        case .lost(_, let delay): handler?.lineChanged(.notListening(event.reason ?? "", retryIn: delay))
        case .restored: accept()
        }
    }

    private func accept() {
        guard let handler else { return }
        handler.lineChanged(.ready(name))
        server?.channel.setOption(.autoRead, value: true).whenFailure { _ in }
    }

    /// Starts to listen. Connections are accepted after ``start(_:)``.
    static func listen(
        host: String, port: Int, usesIP232: Bool, on eventLoop: any EventLoop
    ) async throws(LineError) -> NIOLoopBound<any Line> {
        let holder = NIOLoopBoundBox<TCPLine?>.makeBoxSendingValue(nil, eventLoop: eventLoop)
        @Sendable func open(_ address: SocketAddress) async throws -> any Channel {
            try await ServerBootstrap(group: eventLoop)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.autoRead, value: false)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler())
                    }
                }
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                // Bytes that arrive before the connection has the line are read later.
                .childChannelOption(.autoRead, value: false)
                // Bytes in the system's buffer cannot be recalled.
                .childChannelOption(.socketOption(.so_sndbuf), value: 4096)
                .childChannelOption(.writeBufferWaterMark, value: LineChannel.waterMark)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard let line = holder.value else { return }
                        try channel.pipeline.syncOperations.addHandler(LineChannel(owner: line))
                    }
                }
                .bind(to: address).get()
        }
        do {
            let server = try await open(ListeningAddress.find(host, port: port))
            return try await eventLoop.submit {
                let line = TCPLine(server: server, usesIP232: usesIP232) { [address = server.localAddress] in
                    guard let address else { throw ChannelError.unknownLocalAddress }
                    return try await open(address)
                }
                holder.value = line
                return NIOLoopBound(line as any Line, eventLoop: eventLoop)
            }.get()
        } catch {
            let failure = ListeningFailure(
                error, place: host.withPort(port), port: "port \(port)", remedy: "give another with --listen")
            throw LineError(failure.message)
        }
    }

    var isWritable: Bool { channel?.isWritable ?? false }

    func start(_ handler: any LineHandler) {
        self.handler = handler
        accept()
    }

    func write(_ bytes: [UInt8]) { channel?.write(usesIP232 ? IP232.encode(bytes) : bytes) }

    func setCarrier(_ isOn: Bool) {
        hasCarrier = isOn
        if usesIP232 { channel?.write(IP232.wires(carrier: isOn)) }
    }

    func stop() {
        handler = nil
        // The server refers to this line.
        server.take()?.release().close(promise: nil)
        dismissWaiting()
        channel?.close()
        channel = nil
    }

    func channelOpened(_ channel: LineChannel) {
        guard let old = self.channel, old.host != channel.host else { return takeLine(channel) }
        if let other = waiting?.channel, other.host != channel.host { return refuse(channel) }
        dismissWaiting()
        old.setProbing(true)
        let end = eventLoop.assumeIsolated().scheduleTask(in: Self.probeTime) { [weak self] in
            if let self { refuseWaiting() }
        }
        waiting = (channel, end)
    }

    private func refuse(_ channel: LineChannel) {
        channel.close()
        guard !wasRefusalTold else { return }
        wasRefusalTold = true
        handler?.lineChanged(.refused(host: channel.host ?? "?"))
    }

    /// Refuses the connection that waits for the line, because the line's connection is alive.
    private func refuseWaiting() {
        guard let channel = waiting?.channel else { return }
        dismissWaiting()
        refuse(channel)
    }

    private func dismissWaiting() {
        guard let (other, end) = waiting.take() else { return }
        end.cancel()
        other.close()
        channel?.setProbing(false)
    }

    private func takeLine(_ channel: LineChannel) {
        guard let handler else { return channel.close() }
        if let old = self.channel {
            dismissWaiting()
            self.channel = nil
            handler.lineChanged(.lost("replaced by another connection", retryIn: nil))
            old.close()
        }
        self.channel = channel
        wasRefusalTold = false
        decoder = IP232()
        handler.lineChanged(.opened)
        if usesIP232 { channel.write(IP232.wires(carrier: hasCarrier)) }
        channel.startReading()
    }

    func channel(_ channel: LineChannel, received buffer: ByteBuffer) {
        guard channel === self.channel, let handler else { return }
        refuseWaiting()
        guard usesIP232 else { return handler.lineReceived(buffer.readableBytesView) }
        var plain = ByteBuffer()
        for byte in buffer.readableBytesView {
            switch decoder.receive(byte) {
            case .byte(let byte): plain.writeInteger(byte)
            case .terminalReady(let isReady):
                handler.lineReceived(plain.readableBytesView)
                plain.clear()
                handler.lineTerminalReady(isReady)
            case nil: break
            }
        }
        handler.lineReceived(plain.readableBytesView)
    }

    func channelClosed(_ channel: LineChannel, _ reason: String) {
        if channel === waiting?.channel { return dismissWaiting() }
        guard channel === self.channel else { return }
        self.channel = nil
        handler?.lineChanged(.lost(reason, retryIn: nil))
        guard let (next, end) = waiting.take() else { return }
        end.cancel()
        takeLine(next)
    }

    func channelIsWritable(_ channel: LineChannel) { if channel === self.channel { handler?.lineIsWritable() } }
}
