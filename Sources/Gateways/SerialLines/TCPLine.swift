import Elemental
import NIOCore
import NIOPosix
import Support

/// A port that a machine's emulator or a board's adapter connects to. The newest connection has the line, so that one
/// that was restarted need not wait until the system detects that its old connection is dead.
final class TCPLine: Line, LineChannelOwner {
    let name: String
    private let usesIP232: Bool
    private let server: any Channel
    private weak var handler: (any LineHandler)?
    private var channel: LineChannel?
    private var decoder = IP232()
    private var hasCarrier = false

    private init(server: any Channel, usesIP232: Bool) {
        self.server = server
        self.usesIP232 = usesIP232
        let host = server.localAddress?.ipAddress ?? "?"
        let port = server.localAddress?.port ?? 0
        name = (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
    }

    /// Listens; connections are accepted from ``start(_:)`` on.
    ///
    /// - Throws: ``LineError`` if the port cannot be opened.
    static func listen(
        host: String, port: Int, usesIP232: Bool, on eventLoop: any EventLoop
    ) async throws(LineError) -> NIOLoopBound<any Line> {
        let holder = NIOLoopBoundBox<TCPLine?>.makeBoxSendingValue(nil, eventLoop: eventLoop)
        do {
            let server = try await ServerBootstrap(group: eventLoop)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.autoRead, value: false)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler())
                    }
                }
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                // What is in the system's buffer cannot be recalled.
                .childChannelOption(.socketOption(.so_sndbuf), value: 4096)
                .childChannelOption(.writeBufferWaterMark, value: LineChannel.waterMark)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard let line = holder.value else { return }
                        try channel.pipeline.syncOperations.addHandler(LineChannel(owner: line))
                    }
                }
                .bind(to: ListeningAddress.find(host, port: port)).get()
            return try await eventLoop.submit {
                let line = TCPLine(server: server, usesIP232: usesIP232)
                holder.value = line
                return NIOLoopBound(line as any Line, eventLoop: eventLoop)
            }.get()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw LineError(
                "port \(port) is in use by another program; choose another for --listen")
        } catch let error as InvalidPort {
            throw LineError("cannot listen on \(host): \(error)")
        } catch let error as SocketAddressError.UnknownHost {
            throw LineError(
                "cannot listen on \(host):\(port): the host is not known (\(error.errorDescription))")
        } catch let error as IOError {
            throw LineError(
                "cannot listen on \(host):\(port): \(String(systemError: error.errnoCode))")
        } catch {
            throw LineError("cannot listen on \(host):\(port)", cause: error)
        }
    }

    var isWritable: Bool { channel?.isWritable ?? false }

    func start(_ handler: any LineHandler) {
        self.handler = handler
        server.setOption(.autoRead, value: true).whenFailure { _ in }
    }

    func write(_ bytes: [UInt8]) { channel?.write(usesIP232 ? IP232.encode(bytes) : bytes) }

    func setCarrier(_ isOn: Bool) {
        hasCarrier = isOn
        if usesIP232 { channel?.write(IP232.wires(carrier: isOn)) }
    }

    func stop() {
        handler = nil
        server.close(promise: nil)
        channel?.close()
        channel = nil
    }

    func channelOpened(_ channel: LineChannel) {
        guard let handler else { return channel.close() }
        if let old = self.channel {
            self.channel = nil
            handler.lineLost("replaced by another connection", retryIn: nil)
            old.close()
        }
        self.channel = channel
        decoder = IP232()
        handler.lineOpened()
        if usesIP232 { channel.write(IP232.wires(carrier: hasCarrier)) }
    }

    func channel(_ channel: LineChannel, received buffer: ByteBuffer) {
        guard channel === self.channel, let handler else { return }
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
        guard channel === self.channel else { return }
        self.channel = nil
        handler?.lineLost(reason, retryIn: nil)
    }

    func channelIsWritable(_ channel: LineChannel) {
        if channel === self.channel { handler?.lineIsWritable() }
    }
}
