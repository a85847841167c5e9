import ElementalWire
import Logging
import NIOCore
import NIOEmbedded

@testable import Elemental

/// A client whose service is hostile.
enum ClientTarget: FuzzTarget {
    static let name = "client"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let catalogue = SessionSeeds.catalogue
        let greetings = [
            SessionSeeds.identifier, SessionSeeds.identifier + SessionSeeds.hello + catalogue,
            SessionSeeds.hello + catalogue + SessionSeeds.identifier, SessionSeeds.identifier + SessionSeeds.shutdown,
        ]
        let lives = SessionSeeds.lives(frames)
        var inputs: [[UInt8]] = []
        for kind in UInt8(0)..<4 {
            for greeting in greetings { inputs += lives.map { [kind] + greeting + $0 } }
            for invalid in SessionSeeds.invalidCatalogues {
                let greeting = [kind] + SessionSeeds.identifier + SessionSeeds.hello + invalid
                inputs += [greeting, greeting + catalogue + invalid]
            }
        }
        return inputs
    }

    /// The first byte says what the client knows of the service: whether it says hello, and its elements.
    static func run(_ input: UnsafeRawBufferPointer) {
        do { try run(InputReader(input)) } catch { fatalError("broken: \(error)") }
    }

    private static func run(_ input: InputReader) throws {
        var input = input
        let kind = input.byte()
        let loop = EmbeddedEventLoop()
        let values = Counter()
        let elements = kind & 2 == 0 ? SessionElements.all : nil
        let address = HostilePeer.address("192.0.2.1")
        let datagrams = EmbeddedChannel(loop: loop)
        var options = ConnectOptions()
        options.limits = HostilePeer.limits
        options.expectsHello = kind & 1 == 1
        var manager: ClientConnectionManager?
        let peer = try HostilePeer(loop: loop, address: address, datagrams: datagrams) { stream in
            stream.connect(to: address, promise: nil)
            options.network = EmbeddedNetwork(stream: stream, datagrams: datagrams)
            let connector = Connector(
                place: .address(host: "192.0.2.1", port: 50_000), ownName: "fuzz", elements: elements, options: options
            ) { device in
                device.onAnyValue { _, _, device in values.count(device) }
            }
            let ownManager = ClientConnectionManager(connector, on: loop)
            manager = ownManager
            let device = ElementalDevice(
                role: .service, name: "fuzz", address: nil, service: nil, elements: ElementTable(elements ?? []),
                executor: LoopExecutor(on: loop), limits: options.limits, logger: options.logger,
                manager: NIOLoopBoundBox(ownManager, eventLoop: loop))
            ownManager.connect(device, ConnectionWaiter(loop, closesWhenCancelled: true))
            return try stream.pipeline.syncOperations.handler(type: Session.self)
        }
        peer.play(&input)
        peer.finish()
        let received = peer.device.statistics.messagesReceived
        check(values.count(of: peer.device) <= received, "\(values.count(of: peer.device)) of \(received) values told")
        check(manager?.isIdle == true, "the connection has ended, and the client does not know it")
    }
}

/// The network of a client: one stream and one datagram channel, neither of them a socket.
private struct EmbeddedNetwork: ClientNetwork {
    let stream: EmbeddedChannel
    let datagrams: EmbeddedChannel

    var now: ContinuousClock.Instant { .now }

    func watch(
        _ service: String, logger: Logger, on eventLoop: any EventLoop,
        _ handler: @escaping (ElementalBrowser.Event) -> Void
    ) -> AnyObject { stream }

    func connect(
        to endpoint: ServiceEndpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> { eventLoop.makeSucceededFuture(stream) }

    func openDatagrams(
        to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        initialize(datagrams).map {
            datagrams.connect(to: remote, promise: nil)
            return datagrams
        }
    }
}
