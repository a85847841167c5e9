import NIOCore
import NIOEmbedded
import Testing

@testable import Elemental

/// The bytes that a peer may send before it is authorised.
struct ByteLimitHandlerTests {
    /// The sizes of what arrives, how many of these pass, and whether the connection is open afterwards.
    @Test(arguments: [
        ([], 0, true), ([10], 1, true), ([4, 6], 2, true), ([11], 0, false), ([4, 6, 1], 2, false),
        ([4, 7, 1, 1], 1, false), ([0, 10, 0], 3, true),
    ])
    func onlyTheFirstBytesPass(_ sizes: [Int], _ passing: Int, _ isOpen: Bool) throws {
        let channel = EmbeddedChannel(handler: ByteLimitHandler(10))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        // What comes with the bytes that are too many was read before the connection was closed.
        for size in sizes { channel.pipeline.fireChannelRead(ByteBuffer(repeating: 7, count: size)) }
        var passed: [Int] = []
        while let buffer = try channel.readInbound(as: ByteBuffer.self) { passed.append(buffer.readableBytes) }
        #expect(passed == Array(sizes.prefix(passing)))
        #expect(channel.isActive == isOpen)
    }
}
