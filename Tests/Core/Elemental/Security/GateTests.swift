import ElementalSecurity
import ElementalWire
import NIOCore
import NIOEmbedded
import Testing

@testable import Elemental

/// The gate handlers of services and clients, without sockets and with a manual clock.
struct GateTests {
    private static let name: [UInt8] = [0xfe, 1, 0, 0, 0, 0x68]

    /// Takes the place of a session and keeps the bytes that are passed on to it.
    private final class Heard: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private(set) var bytes: [UInt8] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += Array(buffer: unwrapInboundIn(data))
        }
    }

    /// The gate of a service, and the sessions that it began.
    private final class Service: ServiceGateOwner {
        let loop = EmbeddedEventLoop()
        let keys: ServiceKeys
        private(set) var begun: [AuthorisedClient?] = []
        let heard = Heard()
        let admitsPlainClients = true
        private var gate: ServiceGate?

        init(_ ends: PairedEnds) throws {
            keys = ServiceKeys(
                identity: ends.service, tls: try TLSIdentity(ends.service), store: ends.serviceStore,
                snapshot: try TrustWatch.Snapshot(ends.serviceStore), limits: AcceptLimits(now: AcceptClock.stopped()))
            gate = ServiceGate(
                keys, service: "test", timeout: .seconds(10), on: loop, logger: ServiceConfiguration().logger,
                owner: self)
        }

        func begin(_ channel: any Channel, for client: AuthorisedClient?) throws {
            begun.append(client)
            try channel.pipeline.syncOperations.addHandler(heard)
        }

        func gateReported(_ event: PairingEvent) {}

        /// Accepts a connection, as the listener does.
        ///
        /// - Parameter isClosed: whether the gate has closed, which closes the channel before it becomes active.
        func connect(isClosed: Bool = false) throws -> EmbeddedPeer {
            let peer = try EmbeddedPeer(on: loop)
            #expect(keys.limits.add(peer.channel))
            try gate?.accept(peer.channel)
            if !isClosed { peer.connect() }
            return peer
        }

        func close() { gate?.close() }

        func wait(_ seconds: Double) { loop.advanceTime(by: .milliseconds(Int64(seconds * 1000))) }
    }

    /// A client's handler, and how it ended.
    private final class Client {
        let peer: EmbeddedPeer
        private(set) var ends: [String] = []
        let heard = Heard()

        init(
            _ ends: PairedEnds, on loop: EmbeddedEventLoop, wanted: String = "test", role: Role = .control,
            accepts: @escaping @Sendable (Fingerprint) -> Bool = { _ in true }
        ) throws {
            peer = try EmbeddedPeer(on: loop)
            peer.connect()
            let connector = Connector(
                place: .found(try .onLoopback(1, service: wanted)), ownName: "tester",
                options: ConnectOptions(timeout: .seconds(5)))
            let request = AdmissionRequest(
                identity: try TLSIdentity(ends.client), purpose: .connect(role), accepts: accepts,
                explain: { _ in .connectingCancelled })
            try ClientGateHandler.begin(on: peer.channel, connector, request) { [weak self] result in
                guard let self else { return }
                self.ends.append(Self.words(result))
                if case .success = result { try? peer.channel.pipeline.syncOperations.addHandler(heard) }
            }
        }

        private static func words(_ result: Result<ClientGateHandler.Outcome, ClientGateHandler.Failure>) -> String {
            switch result {
            case .success(.authorised(let service)): "authorised: \(service.role)"
            case .success: "something else"
            case .failure(.otherKey): "other key"
            case .failure(.notEncrypted): "not encrypted"
            case .failure(.timedOut): "timed out"
            case .failure(.unanswered): "unanswered"
            case .failure(.closed): "closed"
            case .failure(.refused(let refusal)): "refused: \(refusal.code.rawValue)"
            case .failure(.notStored): "not stored"
            }
        }
    }

    /// Exchanges bytes until both ends are silent. If one end has closed, the other's channel is closed too.
    private static func run(_ client: Client, _ service: EmbeddedPeer) throws {
        let loop = client.peer.channel.embeddedEventLoop
        while true {
            // TLS verifies certificates in a task of the loop.
            loop.run()
            let (up, down) = (try client.peer.heard(), try service.heard())
            if up.isEmpty, down.isEmpty { break }
            if !up.isEmpty { service.say(up) }
            if !down.isEmpty { client.peer.say(down) }
        }
        if !service.isOpen || !client.peer.isOpen {
            for peer in [service, client.peer] { peer.channel.close(promise: nil) }
        }
        loop.run()
    }

    // MARK: A service's first bytes

    @Test
    func aClientThatSaysNothingIsTakenForAPlainOneAfterASecond() throws {
        let service = try Service(PairedEnds())
        let peer = try service.connect()
        service.wait(0.999)
        #expect(service.begun.isEmpty)
        service.wait(0.001)
        #expect(service.begun == [nil])
        service.wait(1000)
        #expect(peer.isOpen)
    }

    @Test(arguments: [name, [0x16, 4], [0x16, 3, 0, 0, 0, 1, 2, 3]])
    func plainBytesArePassedOnToASession(_ bytes: [UInt8]) throws {
        let service = try Service(PairedEnds())
        let peer = try service.connect()
        for byte in bytes { peer.say([byte]) }
        #expect(service.begun == [nil])
        #expect(service.heard.bytes == bytes)
        #expect(try peer.heard().isEmpty)
    }

    /// After the first byte of a ClientHello, and after enough of it to begin TLS.
    @Test(arguments: [[0x16], [0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc]] as [[UInt8]])
    func aHandshakeHasItsTime(_ bytes: [UInt8]) throws {
        let service = try Service(PairedEnds())
        let peer = try service.connect()
        peer.say(bytes)
        service.wait(9.999)
        #expect(peer.isOpen)
        service.wait(0.001)
        #expect(!peer.isOpen)
        #expect(service.begun.isEmpty)
    }

    /// The bytes that revealed TLS count too.
    @Test(arguments: [(8192, true), (8193, false)])
    func bytesBeforeAuthorisationAreBounded(_ count: Int, _ isOpen: Bool) throws {
        let service = try Service(PairedEnds())
        let peer = try service.connect()
        // A ClientHello of 16 KiB.
        let hello: [UInt8] = [0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc]
        peer.say(hello)
        for _ in 0..<(count - hello.count) { peer.say([3]) }
        #expect(peer.isOpen == isOpen)
    }

    @Test
    func beyondTheLimitNoHandshakeBegins() throws {
        let service = try Service(PairedEnds())
        let hello: [UInt8] = [0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc]
        let peers = try (0..<7).map { _ in try service.connect() }
        for peer in peers { peer.say(hello) }
        #expect(peers.map(\.isOpen) == [true, true, true, true, true, false, false])
    }

    @Test
    func whoWaitsIsClosedWithTheGateAndNobodyComesAfterIt() throws {
        let service = try Service(PairedEnds())
        let peers = [try service.connect(), try service.connect()]
        peers[0].say([0x16])
        service.close()
        #expect(peers.allSatisfy { !$0.isOpen })
        try service.connect(isClosed: true).say(Self.name)
        service.wait(10)
        #expect(service.begun.isEmpty)
    }

    // MARK: Both ends

    @Test(arguments: [
        (Role.control, Role.control, Role.control), (.observe, .admin, .observe), (.admin, .observe, .observe),
    ])
    func pairedEndsAdmitEachOther(_ granted: Role, _ wanted: Role, _ role: Role) throws {
        let ends = try PairedEnds(granted)
        let service = try Service(ends)
        let client = try Client(ends, on: service.loop, role: wanted)
        let accepted = try service.connect()
        try Self.run(client, accepted)
        #expect(client.ends == ["authorised: \(role)"])
        #expect(service.begun.map(\.?.fingerprint) == [ends.client.fingerprint])
        #expect(service.begun.map(\.?.role) == [role])
        // The handlers have removed themselves.
        client.peer.channel.writeAndFlush(ByteBuffer(bytes: Self.name), promise: nil)
        accepted.channel.writeAndFlush(ByteBuffer(bytes: [1, 2, 3]), promise: nil)
        try Self.run(client, accepted)
        #expect(service.heard.bytes == Self.name)
        #expect(client.heard.bytes == [1, 2, 3])
        service.wait(1000)
        #expect(client.peer.isOpen && accepted.isOpen)
    }

    /// The refusals by their codes on the wire: wrong service, not paired.
    @Test(arguments: [("robot", Role?.some(.control), "refused: 3"), ("test", nil, "refused: 4")])
    func whoIsNotAdmittedIsToldWhy(_ wanted: String, _ granted: Role?, _ end: String) throws {
        let ends = try PairedEnds(granted)
        let service = try Service(ends)
        let client = try Client(ends, on: service.loop, wanted: wanted)
        let accepted = try service.connect()
        try Self.run(client, accepted)
        #expect(client.ends == [end])
        #expect(service.begun.isEmpty)
        #expect(!client.peer.isOpen && !accepted.isOpen)
    }

    @Test
    func aClientTellsAnotherKeyNothing() throws {
        let ends = try PairedEnds()
        let service = try Service(ends)
        let client = try Client(ends, on: service.loop, accepts: { _ in false })
        let accepted = try service.connect()
        try Self.run(client, accepted)
        #expect(client.ends == ["other key"])
        #expect(service.begun.isEmpty)
    }

    // MARK: A client

    @Test
    func aServiceHasItsTime() throws {
        let loop = EmbeddedEventLoop()
        let client = try Client(PairedEnds(), on: loop)
        #expect(try client.peer.heard().first == 0x16)
        loop.advanceTime(by: .milliseconds(4999))
        #expect(client.ends.isEmpty)
        loop.advanceTime(by: .milliseconds(1))
        #expect(client.ends == ["timed out"])
        #expect(!client.peer.isOpen)
        loop.advanceTime(by: .hours(1))
        #expect(client.ends.count == 1)
    }

    @Test(arguments: [name, frame(SystemElement.shutdown.rawValue, Array("refused".utf8)), [0x15, 3, 3, 0, 2, 2, 40]])
    func aServiceThatDoesNotSpeakTLSIsNoPairedOne(_ said: [UInt8]) throws {
        let client = try Client(PairedEnds(), on: EmbeddedEventLoop())
        client.peer.say(said)
        #expect(client.ends == ["not encrypted"])
        #expect(!client.peer.isOpen)
    }

    @Test
    func aServiceThatClosesIsSaidToHave() throws {
        let client = try Client(PairedEnds(), on: EmbeddedEventLoop())
        client.peer.channel.close(promise: nil)
        #expect(client.ends == ["unanswered"])
    }
}
