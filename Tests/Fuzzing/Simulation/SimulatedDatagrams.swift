import NIOCore
import NIOEmbedded
import TestSupport

/// The simulated network's datagrams: lost, delayed, reordered and duplicated.
final class SimulatedDatagrams {
    private struct Packet {
        let data: ByteBuffer
        let source: SocketAddress
        let target: SocketAddress
        let arrival: NIODeadline
    }

    var lossPercent = 0
    private let loop: EmbeddedEventLoop
    private var packets: [Packet] = []
    private var channels: [EmbeddedChannel] = []

    init(loop: EmbeddedEventLoop) { self.loop = loop }

    /// Opens a socket. One that is connected to a remote address sends only there.
    func open(at local: SocketAddress, to remote: SocketAddress?) -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        channel.localAddress = local
        channel.remoteAddress = remote
        channels.append(channel)
        return channel
    }

    /// Collects what was written and delivers what is due.
    func step(_ random: inout SeededGenerator) {
        for channel in channels {
            guard let local = channel.localAddress else { continue }
            if let remote = channel.remoteAddress {
                while let data = (try? channel.readOutbound(as: ByteBuffer.self)) ?? nil {
                    send(data, from: local, to: remote, &random)
                }
            } else {
                while let envelope = (try? channel.readOutbound(as: AddressedEnvelope<ByteBuffer>.self)) ?? nil {
                    send(envelope.data, from: local, to: envelope.remoteAddress, &random)
                }
            }
        }
        channels.removeAll { !$0.isActive }
        let now = loop.now
        let due = packets.filter { $0.arrival <= now }
        packets.removeAll { $0.arrival <= now }
        for packet in due {
            guard let channel = channels.first(where: { $0.localAddress == packet.target }) else { continue }
            channel.pipeline.fireChannelRead(AddressedEnvelope(remoteAddress: packet.source, data: packet.data))
            channel.pipeline.fireChannelReadComplete()
        }
    }

    private func send(
        _ data: ByteBuffer, from source: SocketAddress, to target: SocketAddress, _ random: inout SeededGenerator
    ) {
        guard random.number(1...100) > lossPercent else { return }
        for _ in 0..<(random.once(in: 20) ? 2 : 1) {
            let delay = random.once(in: 5) ? random.number(0...200) : random.number(0...2)
            packets.append(
                Packet(data: data, source: source, target: target, arrival: loop.now + .milliseconds(Int64(delay))))
        }
    }
}
