import ElementalWire
import NIOCore
import NIOPosix

extension DatagramBootstrap {
    /// A UDP socket as both ends open it.
    static func elemental(on eventLoop: any EventLoop) -> DatagramBootstrap {
        DatagramBootstrap(group: eventLoop)
            // NIO's default of 2,048 bytes would cut longer datagrams off without a word.
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: receiveCount * receiveByteCount)
            )
            .channelOption(.datagramVectorReadMessageCount, value: receiveCount)
            // A burst of motion waits here while the loop is busy. The system may grant less.
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
    }

    /// Datagrams taken from the system in one call.
    private static var receiveCount: Int { 16 }
    /// The next power of two above the largest datagram.
    private static var receiveByteCount: Int { 1 << 16 }
}
