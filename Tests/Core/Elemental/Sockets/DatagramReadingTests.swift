import Glibc
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import Elemental

/// How a UDP socket is read.
struct DatagramReadingTests {
    /// Counts what it reads, and how.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private var reading = DatagramReading()
        private let seen: Locked<[UInt32]>

        init(_ seen: Locked<[UInt32]>) { self.seen = seen }

        var isBatched: Bool { reading.isBatched }

        func channelActive(context: ChannelHandlerContext) { reading.begin(context.channel) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            reading.noteDatagram()
            guard let number = unwrapInboundIn(data).data.getInteger(at: 0, as: UInt32.self) else { return }
            seen.withLock { $0.append(number) }
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            reading.finish(context.channel)
        }
    }

    /// Datagrams that wait while the loop is busy are read several at a time, and later ones singly again; none is lost
    /// and none overtakes another.
    @Test(.backstop)
    func whatWaitsIsReadTogether() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let seen = Locked<[UInt32]>([])
        let reader = try await loop.submit { NIOLoopBound(Reader(seen), eventLoop: loop) }.get()
        // A task on the loop runs after the read.
        func isBatched() async throws -> Bool { try await loop.submit { reader.value.isBatched }.get() }
        let channel = try await DatagramBootstrap.elemental(on: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(reader.value)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(channel.localAddress)
        let sender = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { _ = Glibc.close(sender) }
        func send(_ numbers: Range<UInt32>) {
            for number in numbers {
                let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
                address.withSockAddr { _ = sendto(sender, bytes, bytes.count, 0, $0, socklen_t($1)) }
            }
        }
        // All are in the socket's buffer before the loop looks at it.
        try await loop.submit { send(0..<200) }.get()
        try await eventually { seen.withLock { $0.count } == 200 }
        #expect(try await isBatched())
        for number in UInt32(200)..<260 {
            send(number..<number + 1)
            try await eventually { seen.withLock { $0.count } == Int(number) + 1 }
        }
        #expect(try await !isBatched())
        #expect(seen.withLock { $0 } == Array(0..<260))
        try await channel.close().get()
    }
}
