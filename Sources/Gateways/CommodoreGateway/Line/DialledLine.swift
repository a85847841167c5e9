import NIOCore
import NIOPosix
import Support

/// A TCP port that is dialled, as an emulator does it.
final class DialledLine: Line, LineChannelOwner {
    let name: String
    private let host: String
    private let port: Int
    private let eventLoop: any EventLoop
    private weak var handler: (any LineHandler)?
    private var channel: LineChannel?
    private var backOff = BackOff.line

    init(host: String, port: Int, on eventLoop: any EventLoop) {
        self.host = host
        self.port = port
        self.eventLoop = eventLoop
        name = "\(host):\(port)"
    }

    var isWritable: Bool { channel?.isWritable ?? false }

    func start(_ handler: any LineHandler) {
        self.handler = handler
        open()
    }

    func write(_ bytes: [UInt8]) { channel?.write(bytes) }

    func setCarrier(_ isOn: Bool) {}

    func stop() {
        handler = nil
        channel?.close()
        channel = nil
    }

    private func open() {
        guard handler != nil else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LineChannel(owner: bound.value))
                }
            }
            .connect(host: host, port: port)
            .whenFailure { _ in bound.value.lost("nothing answers at \(bound.value.name)") }
    }

    private func lost(_ reason: String) {
        guard let handler else { return }
        let delay = TimeAmount(backOff.next())
        handler.lineLost(reason, retryIn: delay)
        eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.open() }
    }

    func channelOpened(_ channel: LineChannel) {
        guard let handler else { return channel.close() }
        self.channel = channel
        backOff.reset()
        handler.lineOpened()
    }

    func channel(_ channel: LineChannel, received buffer: ByteBuffer) {
        handler?.lineReceived(buffer.readableBytesView)
    }

    func channelClosed(_ channel: LineChannel, _ reason: String) {
        guard channel === self.channel else { return }
        self.channel = nil
        lost(reason)
    }

    func channelIsWritable(_ channel: LineChannel) { handler?.lineIsWritable() }
}
