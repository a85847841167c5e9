import ElementalWire
import NIOCore
import NIOPosix

extension DatagramBootstrap {
    /// A UDP socket with the options that both ends use.
    static func elemental(on eventLoop: any EventLoop) -> DatagramBootstrap {
        DatagramBootstrap(group: eventLoop)
            // NIO's default of 2,048 bytes would silently truncate longer datagrams.
            .channelOption(
                .recvAllocator,
                value: FixedSizeRecvByteBufferAllocator(capacity: DatagramReading.batchCount * receiveByteCount)
            )
            // What is left is read in the loop's next turn. NIO would otherwise ask again after every read.
            .channelOption(.maxMessagesPerRead, value: 1)
            // Buffers a burst of motion while the loop is busy. The system may grant less.
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
    }

    /// The next power of two above the largest datagram.
    private static var receiveByteCount: Int { 1 << 16 }
}
