import NIOCore
import NIOTLS
import PeerSupport

/// Sends messages as fast as the channel takes them, prints the other end's report, and closes the channel.
final class Flood: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Step {
        case greeting, warmingUp, beginning, flooding, ending
    }

    private let options: PeerOptions
    private var step = Step.greeting
    /// Whether it is sending: a write can make the channel writable again, which is told before it returns.
    private var isSending = false
    private var frame: ByteBuffer
    private var sequence: UInt64 = 0
    /// When to stop sending, in nanoseconds of the monotonic clock.
    private var end: UInt64 = 0
    private var processorTime = 0.0
    private var unread = ByteBuffer()

    init(_ options: PeerOptions) {
        self.options = options
        frame = Frame.with(ByteBuffer(repeating: 0, count: options.size))
    }

    func channelActive(context: ChannelHandlerContext) {
        if options.identity == nil { mark(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { mark(context) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { flood(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        unread.writeBuffer(&bytes)
        while let payload = Frame.next(&unread) {
            let report = payload.withUnsafeReadableBytes { $0.loadUnaligned(as: PeerReport.self) }
            take(report, context)
        }
    }

    /// The other end has begun or ended its counting.
    private func take(_ report: PeerReport, _ context: ChannelHandlerContext) {
        switch step {
        case .greeting:
            step = .warmingUp
            begin(for: PEER_WARM_UP_NANOSECONDS, context)
        case .beginning:
            step = .flooding
            processorTime = peer_processor_time()
            begin(for: UInt64(options.seconds * 1e9), context)
        case .warmingUp, .flooding: fail("a report that was not asked for")
        case .ending:
            var report = report
            peer_report_print(&report, options.size, sequence, peer_processor_time() - processorTime)
            context.close(promise: nil)
        }
    }

    private func begin(for nanoseconds: UInt64, _ context: ChannelHandlerContext) {
        sequence = 0
        end = peer_now() + nanoseconds
        flood(context)
    }

    private func flood(_ context: ChannelHandlerContext) {
        guard step == .warmingUp || step == .flooding, !isSending else { return }
        isSending = true
        defer { isSending = false }
        while context.channel.isWritable {
            if peer_now() >= end { return finish(context) }
            frame.withUnsafeMutableReadableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                peer_payload_write(base + Frame.headerByteCount, options.size, sequence)
            }
            sequence += 1
            context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        step = step == .warmingUp ? .beginning : .ending
        mark(context)
    }

    private func mark(_ context: ChannelHandlerContext) {
        var mark = ByteBuffer(repeating: 0, count: Int(PEER_MARK_SIZE))
        mark.withUnsafeMutableReadableBytes { bytes in
            peer_mark_write(bytes.baseAddress, step == .ending ? UInt64.max - 1 : .max, 0)
        }
        context.writeAndFlush(wrapOutboundOut(Frame.with(mark)), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if step != .ending { fail("the server closed the connection") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if step != .ending { fail("\(error)") }
    }
}
