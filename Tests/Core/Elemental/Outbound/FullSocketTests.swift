import ElementalWire
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Elemental

/// What a socket that is full does not take.
struct FullSocketTests {
    /// A device and its sender on a socket.
    private final class Line {
        let device: ElementalDevice
        private let bytes = ByteChannel()
        private let sender: Sender
        private var number = 0

        init(on loop: any EventLoop) {
            device = ElementalDevice(on: loop)
            sender = Sender(device, bytes, ProgressReporter(device: device, shared: .none))
        }

        func place() -> EmbeddedSender.Place { EmbeddedSender.Place(bytes) }

        func start() { bytes.start() }

        /// The next value: of all lengths that are little, so that a socket that is nearly full takes a part of one.
        static func value(_ number: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 + number * 37 % 240)
        }

        /// Sends one value after the other until the socket takes no more, and some behind it.
        ///
        /// - Returns: how many have been sent until now.
        func fill() -> Int {
            while !sender.isStreamUnsent {
                device.queue(Lamp.blob.definition, Self.value(number))
                number += 1
                sender.flush()
            }
            for _ in 0..<3 {
                device.queue(Lamp.blob.definition, Self.value(number))
                number += 1
                sender.flush()
            }
            return number
        }
    }

    @Test(.backstop)
    func whatAFullSocketDoesNotTakeFollowsInOrder() async throws {
        let (listener, port) = try RawSocket.listen(receiveBuffer: 4096)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let line = try await loop.submit { NIOLoopBound(Line(on: loop), eventLoop: loop) }.get()
        // A small buffer is soon full.
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.socketOption(.so_sndbuf), value: 4096)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(line.value.place())
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        let other = try await listener.accept()
        let device = try await loop.submit {
            line.value.start()
            return line.value.device
        }.get()
        var read = 0
        for _ in 0..<5 {
            let sent = try await loop.submit { line.value.fill() }.get()
            while read < sent {
                let (id, value) = try await other.readFrame()
                try #require(id == Lamp.blob.id && value == Line.value(read), "value \(read)")
                read += 1
            }
            // The channel has told of it.
            try await eventually { !device.outbound.withLock { $0.isStreamUnsent } }
        }
        try await channel.close()
    }
}
