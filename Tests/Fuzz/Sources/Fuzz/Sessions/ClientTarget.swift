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
        return (0..<4).flatMap { kind in greetings.flatMap { greeting in lives.map { [kind] + greeting + $0 } } }
    }

    /// The first byte says what the client knows of the service: whether it says hello, and its elements.
    static func run(_ input: UnsafeRawBufferPointer) {
        do { try run(InputReader(input)) } catch { fatalError("broken: \(error)") }
    }

    private static func run(_ input: InputReader) throws {
        var input = input
        let kind = input.byte()
        let loop = EmbeddedEventLoop()
        let ready = loop.makePromise(of: ElementalDevice.self)
        let values = Counter()
        var isSettled = false
        ready.futureResult.assumeIsolated().whenComplete { _ in isSettled = true }
        let owner = ClientOwner(name: "fuzz", wantsUDP: false, ready: ready) { device in
            device.onAnyValue { _, _, device in values.count(device) }
        }
        let datagrams = EmbeddedChannel(loop: loop)
        let peer = try HostilePeer(loop: loop, address: HostilePeer.address("192.0.2.1"), datagrams: datagrams) {
            let table = ElementTable(kind & 2 == 0 ? SessionElements.all : [])
            let device = ElementalDevice(
                role: .service, name: "fuzz", address: $0.remoteAddress, service: nil, elements: table, eventLoop: loop,
                limits: HostilePeer.limits, logger: ConnectOptions().logger)
            let session = Session(
                device: device, table: table, sharedHandlers: nil, expectsHello: kind & 1 == 1, owner: owner,
                logger: device.logger)
            try datagrams.pipeline.syncOperations.addHandler(ClientDatagramHandler(session: session))
            datagrams.connect(to: HostilePeer.address("192.0.2.1"), promise: nil)
            session.datagramSink = DatagramSink(channel: datagrams, remote: nil)
            try $0.pipeline.syncOperations.addHandler(session)
            return session
        }
        peer.play(&input)
        peer.finish()
        let received = peer.device.statistics.messagesReceived
        check(values.count(of: peer.device) <= received, "\(values.count(of: peer.device)) of \(received) values told")
        check(isSettled, "nobody was told whether the client is connected")
    }
}
