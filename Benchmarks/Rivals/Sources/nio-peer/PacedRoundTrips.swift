import Foundation
import NIOCore
import PeerSupport
import Synchronization

/// Round trips at a rate: times each from just before its send call until its answer is in the handler, prints the
/// percentiles, and closes the channel.
final class PacedRoundTrips: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let options: PeerOptions
    private let sender: PacedSender
    private var samples: PeerSamples
    private var unread = ByteBuffer()
    /// The number of the next answer.
    private var sequence: UInt64 = 0

    init(_ options: PeerOptions) {
        self.options = options
        sender = PacedSender(options)
        samples = peer_samples_create(Int(options.count))
    }

    func channelActive(context: ChannelHandlerContext) { sender.start(options.pace, on: context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        unread.writeBuffer(&bytes)
        while let payload = Frame.next(&unread) { take(payload, context) }
        unread.discardReadBytes()
    }

    private func take(_ payload: ByteBuffer, _ context: ChannelHandlerContext) {
        let now = peer_now()
        guard payload.withUnsafeReadableBytes({ peer_payload_is($0.baseAddress, $0.count, sequence) }) else {
            fail("the answer to message \(sequence) is not what was sent")
        }
        if sequence >= options.warm_up { peer_samples_add(&samples, now - sender.sendTime(of: sequence)) }
        sequence += 1
        guard sequence == sender.count else { return }
        peer_samples_print(&samples, 0)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if sequence < sender.count { fail("the server closed the connection") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if sequence < sender.count { fail("\(error)") }
    }
}

/// Sends the messages of a run at its rate, whether or not the previous ones were answered.
private final class PacedSender: Sendable {
    /// How long after the start the first message is due, in nanoseconds.
    private static let startTime: UInt64 = 1_000_000

    /// Messages, with those of the warm-up.
    let count: UInt64
    private let size: Int
    /// Nanoseconds from one message to the next.
    private let period: UInt64
    private let message: ByteBuffer
    /// When each message was sent.
    private let sendTimes: Mutex<[UInt64]>

    init(_ options: PeerOptions) {
        count = options.warm_up + options.count
        size = options.size
        period = UInt64(1e9 / options.rate)
        message = Frame.with(ByteBuffer(repeating: 0, count: size))
        sendTimes = Mutex([])
        sendTimes.withLock { [count] in $0.reserveCapacity(Int(count)) }
    }

    func sendTime(of sequence: UInt64) -> UInt64 { sendTimes.withLock { $0[Int(sequence)] } }

    func start(_ pace: PeerPace, on channel: any Channel) {
        let begin = peer_now() + Self.startTime
        switch pace {
        case PEER_PACE_TIMER: schedule(0, begin, on: channel)
        case PEER_PACE_THREAD:
            Thread { [self] in
                for sequence in 0..<count {
                    peer_sleep_until(begin + sequence * period)
                    send(sequence, to: channel)
                }
            }.start()
        default:
            let begin = ContinuousClock.now + .nanoseconds(Self.startTime)
            Task {
                for sequence in 0..<count {
                    try await Task.sleep(until: begin + .nanoseconds(sequence * period), clock: .continuous)
                    send(sequence, to: channel)
                }
            }
        }
    }

    /// Sends on the channel's event loop.
    private func schedule(_ sequence: UInt64, _ due: UInt64, on channel: any Channel) {
        channel.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(due)) { [self] in
            send(sequence, to: channel)
            if sequence + 1 < count { schedule(sequence + 1, due + period, on: channel) }
        }
    }

    private func send(_ sequence: UInt64, to channel: any Channel) {
        var message = message
        message.withUnsafeMutableReadableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            peer_payload_write(base + Frame.headerByteCount, size, sequence)
        }
        sendTimes.withLock { $0.append(peer_now()) }
        channel.writeAndFlush(message, promise: nil)
    }
}
