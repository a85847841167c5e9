import NIOCore
import Support

/// A line over one channel that this end opens, and opens again whenever it is lost.
protocol ReopenedLine: Line, LineChannelOwner {
    var eventLoop: any EventLoop { get }
    var state: ReopenedLineState { get set }

    /// Starts to open the channel, with ``initializer``, unless the line is stopped.
    func open()
    /// The channel is closed, or cannot be opened: reports it and schedules the next attempt.
    func lost(_ reason: String)
}

/// What such a line has while it is started.
struct ReopenedLineState {
    /// `nil` unless the line is started.
    weak var handler: (any LineHandler)?
    /// `nil` unless it is open.
    var channel: LineChannel?
    var backOff = BackOff.line
    /// The next attempt to open it.
    var timer: Scheduled<Void>?
}

extension ReopenedLine {
    var isWritable: Bool { state.channel?.isWritable ?? false }

    func write(_ bytes: [UInt8]) { state.channel?.write(bytes) }

    func setCarrier(_ isOn: Bool) {}

    func start(_ handler: any LineHandler) {
        state.handler = handler
        open()
    }

    /// Closes the channel, and makes no more attempts to open it.
    func end() {
        state.handler = nil
        state.timer?.cancel()
        state.channel?.close()
        state.channel = nil
    }

    /// Connects a channel to the line.
    var initializer: @Sendable (any Channel) -> EventLoopFuture<Void> {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        return { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(LineChannel(owner: bound.value))
            }
        }
    }

    func open(in delay: TimeAmount) {
        state.timer = eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in self?.open() }
    }

    /// Reports that the line is lost, and opens it again after a delay that grows with each failure.
    func retry(after reason: String) {
        guard let handler = state.handler else { return }
        let delay = TimeAmount(state.backOff.next())
        handler.lineLost(reason, retryIn: delay)
        open(in: delay)
    }

    func channelOpened(_ channel: LineChannel) {
        guard let handler = state.handler else { return channel.close() }
        state.channel = channel
        state.backOff.reset()
        handler.lineOpened()
    }

    func channel(_ channel: LineChannel, received buffer: ByteBuffer) {
        state.handler?.lineReceived(buffer.readableBytesView)
    }

    func channelClosed(_ channel: LineChannel, _ reason: String) {
        guard channel === state.channel else { return }
        state.channel = nil
        lost(reason)
    }

    func channelIsWritable(_ channel: LineChannel) { state.handler?.lineIsWritable() }
}
