import NIOCore
import NIOTLS
import PeerSupport

#if canImport(Glibc)
@preconcurrency import Glibc
#endif

/// Makes round trips strictly one after another, checks every answer, prints the percentiles, and closes the channel.
final class RoundTrips: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The time limit for an answer over UDP, which may be lost.
    private static let patience = TimeAmount.seconds(1)

    private let options: PeerOptions
    private let headerByteCount: Int
    private var samples: PeerSamples
    private var lost: UInt64 = 0
    private var sequence: UInt64 = 0
    private var start: UInt64 = 0
    private var received = 0
    private var frame: ByteBuffer
    private var answer = ByteBuffer()

    init(_ options: PeerOptions) {
        self.options = options
        headerByteCount = options.udp ? 6 : 5
        samples = peer_samples_create(Int(options.count))
        frame = ByteBuffer()
        frame.writeInteger(1 as Int8)
        frame.writeInteger(UInt32(options.size), endianness: .little)
        if options.udp { frame.writeInteger(0 as UInt8) }
        frame.writeRepeatingByte(0, count: options.size)
    }

    func channelActive(context: ChannelHandlerContext) {
        if options.udp { watchForLoss(context) }
        if options.identity == nil { send(context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { send(context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var piece = unwrapInboundIn(data)
        if options.udp { answer.clear() }
        answer.writeBuffer(&piece)
        guard answer.readableBytes >= headerByteCount + options.size else { return }
        let end = peer_now()
        let isRight = answer.withUnsafeReadableBytes { bytes in
            bytes.baseAddress.map { peer_payload_is($0 + headerByteCount, options.size, sequence) } ?? false
        }
        guard isRight else {
            // An answer after the time limit is ignored.
            if options.udp { return }
            fail("the answer to message \(sequence) is not what was sent")
        }
        if sequence >= options.warm_up { peer_samples_add(&samples, end - start) }
        next(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if sequence < options.warm_up + options.count { fail("the server closed the connection") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A server that ends says no farewell within TLS.
        if sequence < options.warm_up + options.count { fail("\(error)") }
    }

    private func send(_ context: ChannelHandlerContext) {
        answer.clear()
        frame.withUnsafeMutableReadableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            peer_payload_write(base + headerByteCount, options.size, sequence)
        }
        start = peer_now()
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func next(_ context: ChannelHandlerContext) {
        sequence += 1
        if sequence < options.warm_up + options.count { return send(context) }
        peer_samples_print(&samples, lost)
        context.close(promise: nil)
    }

    /// Checks periodically for messages that were not answered in time.
    private func watchForLoss(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            guard context.channel.isActive else { return }
            self.watchForLoss(context)
            guard peer_now() - self.start > UInt64(Self.patience.nanoseconds) else { return }
            self.lost += 1
            self.next(context)
        }
    }
}

/// Prints the reason and exits.
func fail(_ message: String) -> Never {
    fputs(message + "\n", stderr)
    exit(1)
}
