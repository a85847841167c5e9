import NIOCore
import NIOPosix
import Support

/// A line over one channel that this end opens, and reopens whenever it is lost: a serial device, a pseudo-terminal in
/// its place, or a TCP port.
final class ReopenedLine: Line, LineChannelOwner {
    enum Source {
        case device(path: String, baud: Int, usesFlowControl: Bool)
        /// A pseudo-terminal of this process, connected while its other end is open.
        case pseudoTerminal(descriptor: CInt, path: String, link: String?)
        case port(host: String, port: Int)
    }

    let name: String
    private let source: Source
    private let eventLoop: any EventLoop
    /// `nil` unless the line is started.
    private weak var handler: (any LineHandler)?
    private var channel: LineChannel?
    private var backOff = BackOff.line
    private var timer: Scheduled<Void>?

    /// How often to poll whether the pseudo-terminal has been opened: the system does not notify.
    private static let lookInterval = TimeAmount.milliseconds(50)

    init(_ source: Source, on eventLoop: any EventLoop) {
        self.source = source
        self.eventLoop = eventLoop
        switch source {
        case .device(let path, _, _): name = path
        case .pseudoTerminal(_, let path, let link): name = link ?? path
        case .port(let host, let port): name = "\(host):\(port)"
        }
    }

    var isWritable: Bool { channel?.isWritable ?? false }

    func start(_ handler: any LineHandler) {
        self.handler = handler
        handler.lineChanged(.ready(name))
        open()
    }

    func write(_ bytes: [UInt8]) { channel?.write(bytes) }

    func setCarrier(_ isOn: Bool) {}

    func stop() {
        handler = nil
        timer?.cancel()
        channel?.close()
        channel = nil
        guard case .pseudoTerminal(let descriptor, let path, let link) = source else { return }
        close(descriptor)
        // Another gateway may have replaced it with its own.
        if let link, Self.leads(link, to: path) { unlink(link) }
    }

    private static func leads(_ link: String, to path: String) -> Bool {
        var target = [CChar](repeating: 0, count: path.utf8.count + 1)
        let count = readlink(link, &target, target.count)
        return count >= 0 && target[..<count].map { UInt8(bitPattern: $0) }.elementsEqual(path.utf8)
    }

    private func open() {
        guard handler != nil else { return }
        do throws(TerminalDevice.Failure) {
            switch source {
            case .device(let path, let baud, let usesFlowControl):
                adopt(try TerminalDevice.openDevice(path, baud: baud, usesFlowControl: usesFlowControl))
            case .pseudoTerminal(let descriptor, _, _):
                guard TerminalDevice.isOpenAtOtherEnd(descriptor) else { return open(in: Self.lookInterval) }
                adopt(try PseudoTerminalPump.start(descriptor))
            case .port(let host, let port):
                ClientBootstrap(group: eventLoop)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .channelInitializer(initializer)
                    .connect(host: host, port: port)
                    .assumeIsolated()
                    .whenFailure { [self] _ in lost("nothing answers at \(name)") }
            }
        } catch {
            lost(error.text(name))
        }
    }

    private func open(in delay: TimeAmount) {
        timer = eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.open() }
    }

    private func adopt(_ descriptor: CInt) {
        NIOPipeBootstrap(group: eventLoop)
            .channelOption(.writeBufferWaterMark, value: LineChannel.waterMark)
            .channelInitializer(initializer)
            .takingOwnershipOfDescriptor(inputOutput: descriptor)
            .assumeIsolated()
            .whenFailure { [self] error in
                close(descriptor)
                lost("\(name): \(error)")
            }
    }

    private var initializer: @Sendable (any Channel) -> EventLoopFuture<Void> {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        return { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(LineChannel(owner: bound.value))
            }
        }
    }

    /// Reports that the channel is closed or cannot be opened, and schedules the next attempt.
    private func lost(_ reason: String) {
        guard let handler else { return }
        // A pseudo-terminal is opened at its other end.
        let delay: Duration? = if case .pseudoTerminal = source { nil } else { backOff.next() }
        handler.lineChanged(.lost(reason, retryIn: delay))
        open(in: delay.map { TimeAmount($0) } ?? Self.lookInterval)
    }

    func channelOpened(_ channel: LineChannel) {
        guard let handler else { return channel.close() }
        self.channel = channel
        backOff.reset()
        handler.lineChanged(.opened)
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
