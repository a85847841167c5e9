import ElementalSecurity
import ElementalWire
import Foundation
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Elemental

/// What datagrams do that the peer did not send: at the channels' handlers, with a manual clock.
struct UnprovenDatagramTests {
    private static let name = frame(-2, Array("h".utf8))
    private static let silence = "the peer sent nothing for 90.0 seconds, not even an answer to a ping"

    /// Both ends' protection of an encrypted connection.
    private struct Protections {
        let client: DatagramProtection
        let service: DatagramProtection

        init() {
            let (one, other) = (Fingerprint(publicKey: [1]), Fingerprint(publicKey: [2]))
            client = DatagramProtection(isService: false, own: one, peer: other)
            service = DatagramProtection(isService: true, own: other, peer: one)
        }

        func exchange(as identifier: UInt8) throws {
            let answer = try #require(try service.receive(client.offer(), udpIdentifier: identifier))
            _ = try client.receive(answer, udpIdentifier: identifier)
        }
    }

    /// An encrypted client of a service without sockets.
    private struct SealedClient {
        let service: EmbeddedService
        let peer: EmbeddedPeer
        let protections = Protections()
        let identifier: UInt8

        init(_ service: EmbeddedService, from host: String = "192.0.2.1") throws {
            self.service = service
            peer = try service.connect(from: host, protections.service)
            identifier = try #require(try peer.heard().last)
            try protections.exchange(as: identifier)
            let hello = frame(SystemElement.hello.rawValue, Hello(features: [.ping]).wireBytes)
            peer.say(UnprovenDatagramTests.name + hello)
        }

        func sealed(_ number: UInt64) throws -> [UInt8] {
            let value = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            let datagram = [UInt8(Lamp.count.id), 8, 0, 0, 0, identifier] + value
            return try datagram.withUnsafeBytes { Array(try #require(protections.client.seal($0))) }
        }
    }

    enum Flood: CaseIterable {
        /// With tags that are wrong, from another host.
        case forged
        /// The newest again, from the client's own address.
        case replayed
        /// With a counter that the client cannot have reached, from its address.
        case impossible

        var host: String { self == .forged ? "192.0.2.9" : "192.0.2.1" }
    }

    @Test(arguments: Flood.allCases)
    func aFloodWithinASecondDropsNothingGenuine(_ flood: Flood) throws {
        let service = EmbeddedService()
        let client = try SealedClient(service)
        let received = Transcript<UInt64>()
        service.service.onValue(of: Lamp.count) { value, _ in received.add(value) }
        for number in 0..<UInt64(120) {
            let genuine = try client.sealed(number)
            var unproven = genuine
            switch flood {
            case .forged:
                // A counter that was received is refused before its tag is tried.
                unproven = try client.sealed(number)
                unproven[20] ^= 1
            case .replayed: break
            case .impossible: unproven[7] = 0xFF
            }
            try service.receive([genuine], from: "192.0.2.1")
            try service.receive([[UInt8]](repeating: unproven, count: 417), from: flood.host)
        }
        #expect(received.all == Array(0..<120))
        let device = try #require(service.service.devices.first)
        #expect(device.statistics.datagramsForged == 120 * 417)
        #expect(device.statistics.datagramsDropped == 0)
    }

    @Test
    func aNewestValueThatWasOvertakenIsCountedByItself() throws {
        let level = Element<UInt64>(Int(Lamp.count.id), "Level", transport: .udp, latest: true)
        let service = EmbeddedService(elements: [level])
        let client = try SealedClient(service)
        let (first, second) = (try client.sealed(1), try client.sealed(2))
        try service.receive([second, first], from: "192.0.2.1")
        let device = try #require(service.service.devices.first)
        #expect(device.value(of: level) == 2)
        let statistics = device.statistics
        #expect(statistics.messagesOutdated == 1)
        #expect(statistics.datagramsDropped == 0 && statistics.datagramsForged == 0)
    }

    /// Whoever has the client's own address as well is bounded, and the client is heard again afterwards.
    @Test
    func aFloodFromTheClientsAddressIsBounded() throws {
        let service = EmbeddedService()
        let client = try SealedClient(service)
        let other = try SealedClient(service, from: "192.0.2.2")
        let received = Transcript<UInt64>()
        service.service.onValue(of: Lamp.count) { value, _ in received.add(value) }
        var forged = try client.sealed(1)
        forged[20] ^= 1
        let tried = OpeningBudget.byteCountPerSecond / (forged.count + OpeningBudget.datagramCost)
        try service.receive([[UInt8]](repeating: forged, count: tried + 1000), from: "192.0.2.1")
        #expect(client.protections.service.failureCount == tried)
        try service.receive([client.sealed(2)], from: "192.0.2.1")
        try service.receive([other.sealed(3)], from: "192.0.2.2")
        service.wait(1)
        try service.receive([client.sealed(4)], from: "192.0.2.1")
        #expect(received.all == [3, 4])
    }

    @Test
    func datagramsThatTheClientDidNotSealAreNoSignOfLife() throws {
        let service = EmbeddedService()
        let reasons = service.service.gatherReasons()
        let client = try SealedClient(service)
        let genuine = try client.sealed(0)
        var forged = try client.sealed(1)
        forged[20] ^= 1
        try service.receive([genuine], from: "192.0.2.1")
        for _ in 0..<9 {
            #expect(reasons.all.isEmpty)
            service.wait(10)
            try service.receive([forged, genuine, [SealedDatagram.mark, client.identifier]], from: "192.0.2.1")
        }
        #expect(reasons.all.map(\.kind) == [.timedOut(Self.silence)])
    }

    @Test(arguments: ConnectionKind.allCases)
    func datagramsThatTheServiceDidNotSendAreNoSignOfLife(over kind: ConnectionKind) throws {
        let loop = EmbeddedEventLoop()
        let service = try EmbeddedPeer(on: loop)
        let device = ElementalDevice(
            role: .service, name: "Test", address: nil, service: nil, elements: ElementTable(Lamp.all),
            executor: LoopExecutor(on: loop), limits: DeviceLimits(), logger: ServiceConfiguration().logger)
        let owner = EmbeddedOwner()
        let protections = Protections()
        if kind == .encrypted { try protections.exchange(as: 1) }
        let session = Session(
            device: device, table: ElementTable(Lamp.all), sharedHandlers: nil, expectsHello: false, owner: owner,
            datagramProtection: kind == .encrypted ? protections.client : nil)
        try service.channel.pipeline.syncOperations.addHandler(session)
        service.connect()
        let hello = frame(SystemElement.hello.rawValue, Hello(features: [.ping]).wireBytes)
        service.say(frame(SystemElement.udpIdentifier.rawValue, [1]) + hello)
        #expect(session.isReady)
        let datagrams = EmbeddedChannel(handler: DatagramHandler(ofClient: session), loop: loop)
        let address = try SocketAddress(ipAddress: "192.0.2.1", port: 50_000)
        // With another identifier; with a wrong seal.
        let unproven = [
            [UInt8(Lamp.count.id), 8, 0, 0, 0, 2] + [UInt8](repeating: 0, count: 8), [UInt8(Lamp.count.id), 8],
            [SealedDatagram.mark, 1, 1, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 30),
        ]
        for _ in 0..<9 {
            #expect(owner.reason == nil)
            loop.advanceTime(by: .seconds(10))
            for datagram in unproven {
                datagrams.pipeline.fireChannelRead(
                    AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: datagram)))
            }
            datagrams.pipeline.fireChannelReadComplete()
        }
        #expect(owner.reason?.kind == .timedOut(Self.silence))
        datagrams.pipeline.fireErrorCaught(IOError(errnoCode: ECONNREFUSED, reason: "read"))
        let statistics = device.statistics
        #expect(statistics.datagramErrors == 1 && statistics.datagramsDropped == 0)
        #expect(statistics.datagramsForged + statistics.messagesUnknown + statistics.messagesMalformed >= 24)
    }
}
