import ElementalWire
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
        var options = ConnectOptions()
        // The session gets an embedded channel for its datagrams; a socket cannot be opened on this loop.
        options.allowsUDP = false
        let connector = Connector(
            endpoint: .host("192.0.2.1", port: 50_000), peerName: "fuzz", service: nil, ownName: "fuzz",
            elements: kind & 2 == 0 ? SessionElements.all : nil, options: options
        ) { device in
            device.onAnyValue { _, _, device in values.count(device) }
        }
        var connection: ClientConnection?
        let manager = ClientConnectionManager(connector, on: loop) { connection = $3 }
        let datagrams = EmbeddedChannel(loop: loop)
        let peer = try HostilePeer(loop: loop, address: HostilePeer.address("192.0.2.1"), datagrams: datagrams) {
            let table = ElementTable(kind & 2 == 0 ? SessionElements.all : [])
            let device = ElementalDevice(
                role: .service, name: "fuzz", address: $0.remoteAddress, service: nil, elements: table,
                executor: LoopExecutor(on: loop), limits: HostilePeer.limits, logger: options.logger,
                manager: NIOLoopBound(manager, eventLoop: loop))
            manager.connect(device, ConnectionWaiter(loop, closesWhenCancelled: true))
            guard let owner = connection.take() else { fatalError("broken: no connection is made") }
            let session = Session(
                device: device, table: table, sharedHandlers: nil, expectsHello: kind & 1 == 1, owner: owner,
                logger: device.logger)
            try datagrams.pipeline.syncOperations.addHandler(ClientDatagramHandler(session: session))
            datagrams.connect(to: HostilePeer.address("192.0.2.1"), promise: nil)
            session.sender.datagramSink = DatagramSink(datagrams, to: nil)
            try $0.pipeline.syncOperations.addHandler(session)
            return session
        }
        peer.play(&input)
        peer.finish()
        let received = peer.device.statistics.messagesReceived
        check(values.count(of: peer.device) <= received, "\(values.count(of: peer.device)) of \(received) values told")
        check(manager.isIdle, "the connection has ended, and the client does not know it")
    }
}
