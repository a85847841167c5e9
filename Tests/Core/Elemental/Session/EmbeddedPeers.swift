import NIOCore
import NIOEmbedded

@testable import Elemental

/// A service with clients on channels without sockets, and with a manual clock.
final class EmbeddedService {
    let loop = EmbeddedEventLoop()
    let service: ElementalService
    private let server: ServiceServer

    init(_ change: (inout ServiceConfiguration) -> Void = { _ in }) {
        var configuration = ServiceConfiguration()
        configuration.eventLoopGroup = loop
        change(&configuration)
        service = ElementalService("test", elements: Lamp.all, configuration: configuration)
        server = ServiceServer(service: service.shared, eventLoop: loop)
    }

    func connect(from host: String = "192.0.2.1") throws -> EmbeddedPeer {
        let peer = try EmbeddedPeer(on: loop, host)
        try server.accept(peer.channel)
        peer.connect()
        return peer
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
