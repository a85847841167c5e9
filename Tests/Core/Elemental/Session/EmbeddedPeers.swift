import ElementalSecurity
import ElementalWire
import NIOCore
import NIOEmbedded

@testable import Elemental

/// A service with clients on channels without sockets, and with a manual clock.
final class EmbeddedService {
    let loop = EmbeddedEventLoop()
    let service: ElementalService
    private let server: ServiceServer
    private var datagrams: EmbeddedChannel?

    init(elements: ElementCatalogue = Lamp.all, _ change: (inout ServiceConfiguration) -> Void = { _ in }) {
        var configuration = ServiceConfiguration()
        configuration.eventLoopGroup = loop
        change(&configuration)
        service = ElementalService("test", elements: elements, configuration: configuration)
        server = ServiceServer(service: service.shared, eventLoop: loop)
    }

    /// - Parameter protection: for an encrypted connection, whose stream is not encrypted here.
    func connect(from host: String = "192.0.2.1", _ protection: DatagramProtection? = nil) throws -> EmbeddedPeer {
        let peer = try EmbeddedPeer(on: loop, host)
        try server.accept(peer.channel, datagramProtection: protection)
        peer.connect()
        return peer
    }

    /// The service receives these datagrams in one read.
    func receive(_ received: [[UInt8]], from host: String) throws {
        let address = try SocketAddress(ipAddress: host, port: 50_000)
        let channel = datagrams ?? EmbeddedChannel(handler: server.makeDatagramHandler(), loop: loop)
        datagrams = channel
        for datagram in received {
            channel.pipeline.fireChannelRead(
                AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: datagram)))
        }
        channel.pipeline.fireChannelReadComplete()
    }

    func wait(_ seconds: Double) { loop.advanceTime(by: .milliseconds(Int64(seconds * 1000))) }
}

/// The peer at the other end of such a channel.
final class EmbeddedPeer {
    let channel: EmbeddedChannel
    private let address: SocketAddress

    init(on loop: EmbeddedEventLoop, _ host: String = "192.0.2.1") throws {
        address = try SocketAddress(ipAddress: host, port: 50_000)
        channel = EmbeddedChannel(loop: loop)
        channel.remoteAddress = address
    }

    deinit {
        // TLS closes the channel in a task of the loop. `finish()` would wait for that and block the thread.
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
    }

    func connect() { channel.connect(to: address, promise: nil) }

    var isOpen: Bool { channel.isActive }

    func say(_ bytes: [UInt8]) {
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        channel.pipeline.fireChannelReadComplete()
    }

    /// The bytes sent to it since the last call.
    func heard() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += Array(buffer: buffer) }
        return bytes
    }
}

/// Keeps the reason for which its session ended.
final class EmbeddedOwner: SessionOwner {
    var reason: DisconnectReason?

    let decidesByName = false
    let historyTurns: HistoryTurns? = nil

    func sessionOpened(_ session: Session) {}
    func session(_ session: Session, refuses name: String) -> String? { nil }
    func session(_ session: Session, received hello: Hello) {}
    func session(_ session: Session, incompleteByteCountChanged byteCount: Int) -> IncompleteExcess? { nil }
    func session(_ session: Session, discardedIncomplete element: ElementDefinition, byteCount: Int) {}
    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason) {}
    func sessionIsReady(_ session: Session) {}
    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool { false }
    func sessionEnded(_ session: Session, _ reason: DisconnectReason) { self.reason = reason }
}
