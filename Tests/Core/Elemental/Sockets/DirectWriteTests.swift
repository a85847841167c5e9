import Glibc
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Elemental

/// What an encrypted connection writes to its socket, and what it leaves to NIO.
struct DirectWriteTests {
    /// Counts what NIO is given.
    private final class Counter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        var count = 0

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            count += 1
            context.write(data, promise: promise)
        }
    }

    /// A channel with the handler, and the other end of its socket.
    private struct Ends {
        let channel: any Channel
        let counter: NIOLoopBound<Counter>
        let other: CInt

        init() async throws {
            var ends: [CInt] = [-1, -1]
            let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
            other = ends[1]
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let counter = try await loop.submit { NIOLoopBound(Counter(), eventLoop: loop) }.get()
            self.counter = counter
            channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([counter.value, DirectWriteHandler()])
                    }
                }
                .withConnectedSocket(ends[0]).get()
        }

        /// What has arrived at the other end, at most so much.
        func received(atMost most: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: most)
            let count = recv(other, &bytes, most, 0)
            return Array(bytes.prefix(max(0, count)))
        }

        /// How many writes NIO has been given.
        var passedCount: Int {
            get async throws { try await channel.eventLoop.submit { [counter] in counter.value.count }.get() }
        }

        func close() async throws {
            Glibc.close(other)
            try? await channel.close()
        }
    }

    @Test
    func whatTheSocketDoesNotAcceptGoesByNIOAndAllOfItInOrder() async throws {
        let ends = try await Ends()
        try await ends.channel.writeAndFlush(ByteBuffer(bytes: [1, 2, 3]))
        #expect(ends.received(atMost: 10) == [1, 2, 3])
        #expect(try await ends.passedCount == 0)

        // Of all lengths, none too, some flushed with others: more than a socket holds.
        let sizes = (0..<40).map { ($0 * 7919) % 50_000 }
        let order = Transcript<Int>()
        let channel = ends.channel
        try await channel.eventLoop.submit {
            var start = 0
            for (number, size) in sizes.enumerated() {
                let bytes = ByteBuffer(bytes: (start..<start + size).map { UInt8(truncatingIfNeeded: $0 * 31) })
                start += size
                channel.write(bytes).assumeIsolated().whenSuccess { order.add(number) }
                if number % 3 == 0 { channel.flush() }
            }
            channel.flush()
        }.get()
        #expect(order.all.count < sizes.count)
        let total = sizes.reduce(0, +)
        var received: [UInt8] = []
        try await eventually {
            received += ends.received(atMost: 30_000)
            return received.count == total
        }
        #expect(received == (0..<total).map { UInt8(truncatingIfNeeded: $0 * 31) })
        try await order.wait(for: sizes.count)
        #expect(order.all == Array(0..<sizes.count))

        // NIO has nothing left, so it is not asked.
        let passed = try await ends.passedCount
        #expect(passed > 0)
        try await ends.channel.writeAndFlush(ByteBuffer(bytes: [4, 5]))
        #expect(ends.received(atMost: 10) == [4, 5])
        #expect(try await ends.passedCount == passed)
        try await ends.close()
    }

    @Test
    func whatWasNotFlushedFailsWithTheChannelAndAClosedSocketIsNIOsToTell() async throws {
        let ends = try await Ends()
        let unflushed = ends.channel.write(ByteBuffer(bytes: [1]))
        Glibc.close(ends.other)
        await #expect(throws: (any Error).self) {
            // The first may still be accepted by the system.
            while true { try await ends.channel.writeAndFlush(ByteBuffer(bytes: [2])) }
        }
        try? await ends.channel.close()
        _ = try? await unflushed.get()
        let late = ends.channel.write(ByteBuffer(bytes: [3]))
        ends.channel.flush()
        await #expect(throws: (any Error).self) { try await late.get() }
    }

    /// What a connection's bytes are written through.
    private final class Top: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let bytes = ByteChannel(isPlain: false)

        func handlerAdded(context: ChannelHandlerContext) { bytes.attach(context) }

        func channelActive(context: ChannelHandlerContext) { bytes.start() }
    }

    /// The bytes of a socket that are written and not sent; `nil` where the system does not tell, as QEMU does not.
    private static func unsentByteCount(_ descriptor: CInt) -> CInt? {
        var count: CInt = 0
        // SIOCOUTQNSD of linux/sockios.h, which Glibc's module does not have.
        return ioctl(descriptor, 0x894B, &count) == 0 ? count : nil
    }

    private static let tellsUnsentBytes = {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        return unsentByteCount(descriptor) != nil
    }()

    @Test(.enabled(if: tellsUnsentBytes, "the system does not tell how many bytes are unsent"))
    func whatAnotherWriteFollowsFillsAPacketFirst() async throws {
        let (listener, port) = try RawSocket.listen()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let top = try await loop.submit { NIOLoopBound(Top(), eventLoop: loop) }.get()
        let channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([DirectWriteHandler(), top.value])
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        let other = try await listener.accept()
        let unsent = try await loop.submit {
            let bytes = top.value.bytes
            let descriptor = try #require(bytes.descriptor)
            var counts: [CInt] = []
            for more in [true, true, false] {
                bytes.pass(ByteBuffer(bytes: [1, 2, 3]), more: more)
                counts.append(try #require(Self.unsentByteCount(descriptor)))
            }
            return counts
        }.get()
        #expect(unsent == [3, 6, 0])
        #expect(try await other.read(9) == [1, 2, 3, 1, 2, 3, 1, 2, 3])
        try await channel.close()
    }
}
