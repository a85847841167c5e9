import Glibc
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import Elemental

/// Datagrams that are sent by another thread than the event loop's.
struct DirectDatagramTests {
    /// Tasks of Swift's thread pool answer each other by streams, while the service sends too: everything arrives once,
    /// each element's values in order.
    @Test(.backstop, arguments: ConnectionKind.allCases)
    func tasksThatAnswerEachOtherLoseNothing(kind: ConnectionKind) async throws {
        try await withService(over: kind) { service, port in
            let count = 900
            service.onEvent { event in
                guard case .deviceConnected(let device) = event else { return }
                Task {
                    for await number in device.values(of: Lamp.count) {
                        // Every third answer shares its way with others, which may be in the same datagram or not.
                        if number.isMultiple(of: 3) { _ = try? service.send([Float(number), 0, 0], to: Lamp.motion) }
                        try? device.send(number, to: Lamp.count)
                    }
                }
            }
            let device = try await connect(port, over: kind)
            let motion = Transcript<Float>()
            device.onValue(of: Lamp.motion) { motion.add($0.x) }
            try await eventually { (try? device.send(0, to: Lamp.count)) != nil }
            try await Task.detached {
                var answers = device.values(of: Lamp.count).makeAsyncIterator()
                for number in 1...UInt64(count) {
                    try device.send(number, to: Lamp.count)
                    var answer = await answers.next()
                    if answer == 0 { answer = await answers.next() }
                    #expect(answer == number)
                }
            }.value
            try await motion.wait(for: count / 3)
            #expect(motion.all.filter { $0 > 0 } == (1...count / 3).map { Float(3 * $0) })
            let byteCount = device.outbound.withLock { $0.datagrams.directByteCount }
            // What is sealed is sealed on the event loop.
            #expect(kind == .plain ? byteCount > 0 : byteCount == 0)
            #expect(device.statistics.messagesUnsent == 0)
            #expect(device.statistics.datagramsDropped == 0)
            await device.close()
        }
    }

    private static func withSocket(
        _ body: @Sendable (DatagramSocket, _ port: Int) async throws -> Void
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let channel = try await DatagramBootstrap.elemental(on: loop).bind(host: "127.0.0.1", port: PortLease.port())
            .get()
        let socket = try await loop.submit { DatagramSocket(channel) }.get()
        try await body(socket, try #require(channel.localAddress?.port))
        try await socket.close().get()
    }

    private func write(_ text: String, to address: SocketAddress?, _ socket: DatagramSocket) -> String {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { "\(socket.writeDirectly($0, to: address))" }
    }

    @Test
    func theSocketIsOpenedForThreadsWhenOneAsks() async throws {
        try await Self.withSocket { socket, port in
            let own = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            #expect(write("early", to: own, socket) == "full")
            #expect(!socket.isOpenForThreads())
            try await eventually { socket.isOpenForThreads() }
            #expect(write("hello", to: own, socket) == "taken")
        }
    }

    /// Without SO_BROADCAST the system refuses it.
    @Test
    func whatTheSystemRefusesIsLost() async throws {
        try await Self.withSocket { socket, _ in
            try await eventually { socket.isOpenForThreads() }
            let everybody = try SocketAddress(ipAddress: "255.255.255.255", port: 9)
            #expect(write("hello", to: everybody, socket) == "lost(\(String(systemError: EACCES).debugDescription))")
        }
    }

    /// Closing the channel, by whomever, releases the port too.
    @Test(arguments: [true, false])
    func aClosedSocketIsClosedForThreads(byChannel: Bool) async throws {
        try await Self.withSocket { socket, port in
            try await eventually { socket.isOpenForThreads() }
            let loop = socket.channel.eventLoop
            if byChannel {
                try await socket.channel.close()
                try await eventually { !socket.isOpenForThreads() }
            } else {
                try await socket.close().get()
            }
            #expect(!socket.isOpenForThreads())
            #expect(write("late", to: try SocketAddress(ipAddress: "127.0.0.1", port: port), socket) == "full")
            let next = try await DatagramBootstrap.elemental(on: loop).bind(host: "127.0.0.1", port: port).get()
            try await next.close()
        }
    }

    @Test
    func aDatagramThatAThreadCannotSendIsCounted() throws {
        let line = try EmbeddedSender()
        #expect(line.device.settle(messageCount: 1, .taken))
        #expect(!line.device.settle(messageCount: 1, .full))
        #expect(line.device.statistics.datagramsDropped == 0)
        #expect(line.device.settle(messageCount: 1, .lost(String(systemError: EHOSTUNREACH))))
        #expect(line.device.statistics.datagramsDropped == 1)
    }
}
